"""What KR reads in files of Rust, Go, Java, Ruby and PHP, in the shape of examples that are published.

The examples follow the Cargo Book and Cargo's own lock files of the versions 1 to 4, the Go Modules Reference and the `go.mod`
of Bibliothecary's tests, the POM Reference, Gradle's user guide, lock files of Bundler with CHECKSUMS, and Composer's.
"""

from __future__ import annotations

import json

import pytest

from kr_core.project import lockfiles
from kr_core.project.package_names import normalise
from kr_core.project.project import LocalProject

INDEX = "registry+https://github.com/rust-lang/crates.io-index"


def versions(root, files, member="."):
    """What is listed in a folder of a project that consists of some files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = LocalProject(root, root / member, {}, own_prefix=None)
    assert project.warnings == []
    return {name: version for name, version, _ in project.versions()}


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("version", "dependency"),
    [
        ("", f'"rand 0.8.5 ({INDEX})"'),
        ("version = 3", '"rand 0.8.5"'),
        ("version = 4", '"rand 0.8.5"'),
    ],
)
def test_a_crate_that_is_locked_twice_has_the_version_that_the_member_depends_on(
    tmp_path, version, dependency
):
    """In each version of Cargo.lock, the version that the program itself uses is told, not a higher one of others."""
    text = f"""{version}
[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 {dependency},
 "tiny-git",
]

[[package]]
name = "rand"
version = "0.8.5"
source = "{INDEX}"

[[package]]
name = "rand"
version = "0.9.1"
source = "{INDEX}"

[[package]]
name = "tiny-git"
version = "1.4.2"
source = "git+https://git.example.com/tiny?tag=v1.4.2#233f188af136704c4643da7616b304ab5190d369"

[[patch.unused]]
name = "unused"
version = "9.9.9"

[metadata]
"checksum rand 0.8.5 ({INDEX})" = "34af8d1a0e25924bc5b7c43c079c942339d8f0a8b57c39049bef581b46327404"
"""
    manifest = '[package]\nname = "app"\n[dependencies]\nrand = "0.8"\ntiny-git = { git = "https://git.example.com/tiny", tag = "v1.4.2" }\n'
    found = versions(tmp_path, {"Cargo.lock": text, "Cargo.toml": manifest})
    assert found == {"app": "0.1.0", "rand": "0.8.5", "tiny-git": "1.4.2"}


@pytest.mark.req("K9")
def test_a_renamed_crate_leaves_the_version_of_the_crate_that_keeps_its_name(tmp_path):
    """A program that uses `rand` and, as `rand9`, a later one has the former by the name `rand`."""
    lock = f"""version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "rand 0.8.5",
 "rand 0.9.1",
]

[[package]]
name = "rand"
version = "0.8.5"
source = "{INDEX}"

[[package]]
name = "rand"
version = "0.9.1"
source = "{INDEX}"
"""
    manifest = '[package]\nname = "app"\n[dependencies]\nrand = "0.8"\nrand9 = { package = "rand", version = "0.9" }\n'
    assert versions(tmp_path, {"Cargo.lock": lock, "Cargo.toml": manifest})["rand"] == "0.8.5"


RAND = ("0.7.3", "0.8.5", "0.9.1")


def workspace_of_cargo(shared, a, z):
    """The files of a workspace without a package at its root; of two members that depend on these versions of `rand`."""
    packages = [f'name = "rand"\nversion = "{each}"\nsource = "{INDEX}"\n' for each in RAND]
    packages += [
        f'name = "{name}"\nversion = "0.1.0"\ndependencies = {json.dumps([f"rand {each}" for each in depends])}\n'
        for name, depends in (("a", a), ("z", z))
    ]
    members = '[workspace]\nmembers = ["a", "z"]\n[workspace.dependencies]\n'
    return {
        "Cargo.lock": "version = 4\n" + "".join(f"[[package]]\n{each}" for each in packages),
        "Cargo.toml": f"{members}{shared}\n",
        "a/Cargo.toml": '[package]\nname = "a"\n[dependencies]\nrand = "0.7"\n',
        "z/Cargo.toml": '[package]\nname = "z"\n[dependencies]\nrand = { workspace = true }\n'
        'rand9 = { package = "rand", version = "0.9" }\n',
    }


@pytest.mark.req("K9")
@pytest.mark.parametrize(("member", "version"), [("z", "0.8.5"), ("z/src", "0.8.5"), ("a", "0.7.3")])
def test_what_a_crate_inherits_from_its_workspace_leaves_a_renamed_one_aside(tmp_path, member, version):
    """The range lies in the `Cargo.toml` beside `Cargo.lock`."""
    files = workspace_of_cargo('rand = "0.8"', ["0.7.3"], ["0.8.5", "0.9.1"])
    (tmp_path / member).mkdir(parents=True)
    assert versions(tmp_path, files, member)["rand"] == version


@pytest.mark.req("K9")
@pytest.mark.parametrize(
    ("shared", "a", "z", "version"),
    [
        ('rand = "0.8"', ["0.7.3"], ["0.8.5", "0.9.1"], "0.8.5"),
        ('rand = ">=0.7, <0.9"', ["0.7.3"], ["0.8.5"], ">=0.7, <0.9"),  # the members differ
        ("", ["0.7.3"], ["0.8.5"], None),
        ("", ["0.8.5"], ["0.8.5"], "0.8.5"),
    ],
)
def test_no_member_of_a_workspace_of_cargo_is_nearer_to_its_root_than_another(
    tmp_path, shared, a, z, version
):
    """Without a package at the root the version is in use that the workspace's own list allows, or that all share."""
    assert versions(tmp_path, workspace_of_cargo(shared, a, z)).get("rand") == version


@pytest.mark.req("K9")
def test_each_replacement_in_go_mod_is_for_its_version_only(tmp_path):
    """A replacement of one version comes before that of all; exclusions, retractions and tools name no versions in use.

    What is replaced by a folder has no version.
    """
    text = """module example.com/shop

go 1.24.0

toolchain go1.24.1

require\tgithub.com/google/uuid v1.3.0
require (
\tgithub.com/gofrs/uuid v4.4.0+incompatible
\tgithub.com/old/one v1.0.0
\tgithub.com/old/two v1.0.0
\tgolang.org/x/net v1.2.3 // the one that is replaced
\tgopkg.in/yaml.v1 v1.0.0-20140924161607-9f9df34309c0 // indirect
)

exclude old/thing v1.2.3

exclude (
\tgolang.org/x/net v1.9.9
)

replace github.com/old/one v1.0.0 => github.com/fork/one v1.4.5

replace (
\tgithub.com/old/one v2.0.0 => github.com/fork/one v2.4.5
\tgithub.com/old/two => github.com/fork/two v1.4.5
\tgithub.com/old/two v1.0.0 => github.com/fork/two v1.5.0
\tgolang.org/x/net v1.2.4 => example.com/fork/net v1.4.5
\tgithub.com/google/uuid => ./fork/uuid
)

retract [v2.0.0, v1.9.9]

retract (
\tv1.0.0 // published by mistake
\t[v1.0.0, v1.9.9]
)

tool golang.org/x/tools/cmd/stringer

tool (
\tgithub.com/jstemmer/go-junit-report/v2
)
"""
    assert versions(tmp_path, {"go.mod": text}) == {
        "github.com/gofrs/uuid": "v4.4.0+incompatible",
        "github.com/old/one": "v1.4.5",
        "github.com/old/two": "v1.5.0",
        "golang.org/x/net": "v1.2.3",
        "gopkg.in/yaml.v1": "v1.0.0-20140924161607-9f9df34309c0",
    }


def dependency(name, version="", more=""):
    said = f"<version>{version}</version>" if version else ""
    return (
        f"<dependency><groupId>org.example</groupId><artifactId>{name}</artifactId>{said}{more}</dependency>"
    )


def pom(artifact, body, version="1.0"):
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>org.shop</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{body}</project>"
    )


PARENT = "<parent><groupId>org.shop</groupId><artifactId>parent</artifactId><version>{}</version></parent>"


@pytest.mark.req("K9")
def test_a_pom_takes_versions_from_properties_and_the_parent_that_it_names(tmp_path):
    """A member's own property comes first; a version with an unknown part, or of an imported BOM, stays unknown."""
    imported = "<type>pom</type><scope>import</scope>"
    managed = dependency("managed", "${managed.version}") + dependency("bom", "3.2.0", imported)
    parent = (
        "<packaging>pom</packaging><properties><managed.version>1.1</managed.version><own>2.0</own></properties>"
        f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>"
    )
    member = (
        PARENT.format("1.0") + "<properties><own>2.1</own></properties><dependencies>"
        + dependency("managed") + dependency("own", "${own}") + dependency("of-bom") + dependency("sibling", "${project.version}")
        + dependency("half-known", "2.${minor}.1") + "</dependencies>"
    )  # fmt: skip
    found = versions(
        tmp_path, {"pom.xml": pom("parent", parent), "web/pom.xml": pom("web", member)}, member="web"
    )
    assert found == {
        "org.example:managed": "1.1", "org.example:own": "2.1", "org.example:bom": "3.2.0", "org.example:sibling": "1.0",
        "org.shop:parent": "1.0",
    }  # fmt: skip


@pytest.mark.req("K9")
@pytest.mark.parametrize("order", [1, -1])
def test_what_properties_are_worth_does_not_depend_on_the_order_of_dependencies(tmp_path, order):
    """Each names the next one; of more than ten levels none is filled in, whichever is asked for first."""
    properties = "".join(f"<a{number}>${{a{number + 1}}}</a{number}>" for number in range(1, 12))
    asked = [dependency(f"a{number}", f"${{a{number}}}") for number in (1, 2, 3, 8)]
    body = f"<properties>{properties}<a12>1.0</a12></properties><dependencies>{''.join(asked[::order])}</dependencies>"
    found = versions(tmp_path, {"pom.xml": pom("shop", body)})
    assert {name[-2:]: version for name, version in found.items()} == {"a3": "1.0", "a8": "1.0"}


@pytest.mark.req("K9")
def test_a_parent_of_another_version_is_not_the_one_in_the_folder_above(tmp_path):
    """Maven takes it from its repository, so what it manages is not known."""
    parent = f"<dependencyManagement><dependencies>{dependency('managed', '1.1')}</dependencies></dependencyManagement>"
    member = PARENT.format("0.9") + f"<dependencies>{dependency('managed')}</dependencies>"
    files = {"pom.xml": pom("parent", parent), "web/pom.xml": pom("web", member)}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    read = lockfiles.read(tmp_path / "web/pom.xml", top=tmp_path)
    assert read.find(normalise("org.example:managed")).version == ""


@pytest.mark.req("K9")
def test_a_pom_has_the_properties_and_dependencies_of_profiles_that_are_active_by_default(tmp_path):
    """They override those of the POM that they are in, but not those of its child."""

    def dependency(name, version):
        return f"<dependency><groupId>g</groupId><artifactId>{name}</artifactId>{version}</dependency>"

    def profile(active, hadoop, name):
        return (
            f"<profile><activation><activeByDefault>{active}</activeByDefault></activation>"
            f"<properties><hadoop.version>{hadoop}</hadoop.version><own>9</own></properties>"
            f"<dependencies>{dependency(name, '<version>1.0</version>')}</dependencies><dependencyManagement><dependencies>"
            f"{dependency('managed', f'<version>{hadoop}</version>')}</dependencies></dependencyManagement></profile>"
        )

    top = (
        "<project><groupId>a</groupId><artifactId>top</artifactId><version>1</version>"
        "<properties><hadoop.version>2.7.4</hadoop.version><own>1</own></properties><dependencies>"
        f"{dependency('hadoop', '<version>${hadoop.version}</version>')}{dependency('managed', '')}"
        f"{dependency('more', '<version>2.0</version>')}</dependencies><dependencyManagement><dependencies>"
        f"{dependency('managed', '<version>0.1</version>')}</dependencies></dependencyManagement>"
        f"<profiles>{profile('true', '3.3.6', 'more')}{profile('false', '3.4.0', 'other')}</profiles></project>"
    )
    child = (
        "<project><parent><groupId>a</groupId><artifactId>top</artifactId><version>1</version></parent>"
        "<artifactId>child</artifactId><properties><own>2</own></properties>"
        f"<dependencies>{dependency('own', '<version>${own}</version>')}</dependencies></project>"
    )
    found = versions(tmp_path, {"pom.xml": top, "child/pom.xml": child}, "child")
    assert found == {"a:top": "1", "g:hadoop": "3.3.6", "g:managed": "3.3.6", "g:more": "1.0", "g:own": "2"}


@pytest.mark.req("K9")
def test_a_build_script_names_versions_in_each_notation_of_the_user_guide(tmp_path):
    """Strict versions, classifiers, maps and constraints are read; what is assigned twice stays unknown."""
    script = """
plugins { id 'org.springframework.boot' version '3.3.0' }
ext.kotlin.version = '1.9.24'
ext.spring.version = '6.1.8'
def picked = '1.0'
if (next) {
    picked = '2.0'
}
dependencies {
    implementation 'org.slf4j:slf4j-api:1.7.15!!'
    implementation('org.slf4j:slf4j-simple:[1.7, 1.8[!!1.7.25')
    implementation "org.jetbrains.kotlin:kotlin-stdlib:${kotlin.version}"
    implementation "org.springframework:spring-core:${spring.version}"
    implementation 'org.lwjgl:lwjgl:3.3.3:natives-linux@jar'
    api group: 'org.example', name: 'by-map', version: '1.2'
    implementation "org.example:picked:$picked"
    implementation "org.example:computed:" + computed
    testImplementation(platform("org.junit:junit-bom:5.10.2"))
    constraints { implementation 'com.google.guava:guava:33.0.0-jre' }
}
"""
    assert versions(tmp_path, {"build.gradle": script}) == {
        "org.springframework.boot": "3.3.0",
        "org.slf4j:slf4j-api": "1.7.15",
        "org.slf4j:slf4j-simple": "[1.7,1.8[",
        "org.jetbrains.kotlin:kotlin-stdlib": "1.9.24",
        "org.springframework:spring-core": "6.1.8",
        "org.lwjgl:lwjgl": "3.3.3",
        "org.example:by-map": "1.2",
        "org.junit:junit-bom": "5.10.2",
        "com.google.guava:guava": "33.0.0-jre",
    }


@pytest.mark.req("K9")
def test_a_build_script_needs_its_program_before_its_tests_and_rules_leave_versions_unknown(tmp_path):
    """What the resolution is told to force is not what stands at the dependency."""
    script = """
dependencies {
    implementation("com.google.guava:guava:33.0.0-jre")
    testImplementation("com.google.guava:guava:33.1.0-jre")
    testImplementation("org.mockito:mockito-core:5.12.0")
    implementation("org.a:forced:1.0")
    implementation("org.b:forced:1.0")
    implementation("org.c:chosen:1.0")
    implementation("org.d:free:1.0")
}
configurations.all {
    resolutionStrategy {
        force("org.a:forced:2.0", "org.b:forced:2.0")
        eachDependency { if (requested.group == "org.c") useVersion("1.1") }
    }
}
"""
    expected = {
        "com.google.guava:guava": "33.0.0-jre",
        "org.mockito:mockito-core": "5.12.0",
        "org.d:free": "1.0",
    }
    assert versions(tmp_path / "kotlin", {"build.gradle.kts": script}) == expected
    groovy = script.replace("force(", "force ").replace('2.0")', '2.0"').replace('"', "'")
    assert versions(tmp_path / "groovy", {"build.gradle": groovy}) == expected


@pytest.mark.req("K9")
def test_a_gemfile_lock_names_gems_of_every_source_and_platform(tmp_path):
    """Gems from git, folders and the index, for several platforms; checksums and requirements name no versions."""
    text = """GIT
  remote: https://github.com/example/devise.git
  revision: 99f3b4bd42c7a1d27ee2a4ba2cbfd2a5c7a3b0a1
  branch: main
  specs:
    devise (4.9.4)
      warden (~> 1.2.3)

PATH
  remote: engines/shop
  specs:
    shop-engine (0.3.0)
      rails (>= 7.0)

GEM
  remote: https://rubygems.org/
  specs:
    nokogiri (1.16.5)
      mini_portile2 (~> 2.8.2)
    nokogiri (1.16.5-arm64-darwin)
    nokogiri (1.16.5-x86_64-linux)
    ox (2.14.18.pre1)
    rails (7.1.3.4)
    warden (1.2.9)

PLATFORMS
  arm64-darwin-23
  x86_64-linux

DEPENDENCIES
  devise!
  nokogiri (~> 1.16)
  ox
  rails (= 7.1.3.4)
  shop-engine!

CHECKSUMS
  devise (9.9.9)
  rails (7.1.3.4) sha256=edc5f2df0e4b9ec2c2f5dc5e4b6f1f21

RUBY VERSION
   ruby 3.3.1p55

BUNDLED WITH
   2.5.11
"""
    found = versions(tmp_path, {"Gemfile.lock": text})
    assert found == {
        "devise": "4.9.4", "shop-engine": "0.3.0", "nokogiri": "1.16.5", "ox": "2.14.18.pre1", "rails": "7.1.3.4",
        "warden": "1.2.9",
    }  # fmt: skip
    project = LocalProject(tmp_path, tmp_path, {}, own_prefix=None)
    assert project.direct_dependencies() == {"devise", "nokogiri", "ox", "rails", "shop-engine"}


@pytest.mark.req("K9")
def test_a_composer_lock_names_releases_and_branches(tmp_path):
    """A branch is told as such, not as the version that it has an alias for; platform packages are none."""
    package = {
        "name": "a/main",
        "version": "dev-main",
        "source": {"type": "git", "reference": "1d47648c"},
        "extra": {"branch-alias": {"dev-main": "2.0.x-dev"}},
    }
    lock = {
        "packages": [package, {"name": "monolog/monolog", "version": "3.6.0"}, {"name": "a/line", "version": "1.x-dev"}],
        "packages-dev": [{"name": "phpunit/phpunit", "version": "v11.1.3"}],
        "aliases": [{"package": "a/main", "version": "dev-main", "alias": "2.1.0"}],
        "platform": {"php": ">=8.2"},
    }  # fmt: skip
    manifest = {
        "require": {"php": ">=8.2", "a/main": "dev-main#1d47648c as 2.1.0", "monolog/monolog": "^3.0"},
        "require-dev": {"phpunit/phpunit": "^11"},
    }
    found = versions(tmp_path, {"composer.lock": json.dumps(lock), "composer.json": json.dumps(manifest)})
    assert found == {"a/main": "dev-main", "a/line": "1.x-dev", "monolog/monolog": "3.6.0", "phpunit/phpunit": "v11.1.3"}  # fmt: skip
