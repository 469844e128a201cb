plugins {
    alias(libs.plugins.jvm)
    id("org.springframework.boot") version "3.3.0"
}

val slf4jVersion = "2.0.13"

dependencies {
    // implementation("com.acme:commented-out:9.9")
    implementation(libs.ktor.client.core)
    api("org.slf4j:slf4j-api:$slf4jVersion")
    implementation(platform("com.fasterxml.jackson:jackson-bom:2.17.1"))
    implementation("com.fasterxml.jackson.core:jackson-databind")
    runtimeOnly(group = "org.postgresql", name = "postgresql", version = "42.7.3")
    testImplementation(libs.mockk)
}
