"""What is said of exactly the thing that was asked about, and the sentence of it that decides."""

import pytest

QUEUE = '''\
"""Queues."""


def enqueue(queue: str, result_ttl: int = 7) -> None:
    """Puts a job into a queue from the command line.

    Args:
        queue: The name of the queue.
        result_ttl: Seconds that the result is kept, for the command.
    """


class Queue:
    """A queue of jobs."""

    def enqueue_call(self, func: str, result_ttl: int | None = None) -> None:
        """Puts a call into the queue.

        Args:
            func: What is called.
            result_ttl: Seconds that the result is kept.
        """

    def enqueue(self, f: str, *args: object, **kwargs: object) -> None:
        """Puts a job into the queue. Receives the same parameters as the `enqueue_call` method."""
        return self.enqueue_call(f, **parsed(kwargs))
'''


@pytest.mark.req("A1", "A2")
def test_the_default_of_a_method_is_not_that_of_a_function_of_the_same_name_elsewhere(install, ask_about):
    install("jobs", {"jobs/__init__.py": "", "jobs/queues.py": QUEUE})
    told, _level = ask_about("jobs", "What is the default of result_ttl in Queue.enqueue?")
    assert told.index("`jobs.queues.Queue.enqueue(") < told.index("`jobs.queues.enqueue(")
    assert "The default of" not in told


WRITE = '''\
def write(data, existing_data_behavior="error", create=True):
    """Write data to a folder.

    Parameters
    ----------
    data : list
        The data to write.
    existing_data_behavior : 'error' | 'overwrite_or_ignore' | \\
'delete_matching'
        Controls how the call will handle data that already exists in
        the destination.  The default behavior is to raise an error.

        'delete_matching' will delete the whole folder first.
    create : bool, default True
        If False, folders will not be created.
    """
'''


@pytest.mark.req("A3")
def test_a_type_that_goes_on_at_the_margin_cuts_nothing_off(install, ask_about):
    install("store", {"store/__init__.py": WRITE})
    told, _level = ask_about("store", "What does existing_data_behavior do in store.write?")
    assert "Controls how the call will handle data that already exists" in told
    told, _level = ask_about("store", "What does create do in store.write?")
    assert "If False, folders will not be created." in told


PARSE = '''\
def parse(source, huge_tree=False, recover=None):
    """Parses a source.

    Available boolean keyword arguments:
     - recover: try hard to parse through broken input
     - huge_tree: disable security restrictions and support very deep trees
                  and very long text content
    """
'''


@pytest.mark.req("A3")
def test_an_item_of_a_list_is_told_from_its_first_line(install, ask_about):
    install("tree", {"tree/__init__.py": PARSE})
    told, _level = ask_about("tree", "What does huge_tree do in tree.parse?")
    assert "disable security restrictions and support very deep trees and very long text content" in told


RETRY = '''\
"""Tries again."""
from typing import overload
from retry import _limits

@overload
def retry(func: object) -> object: ...
@overload
def retry(stop: str = "never", wait: float = 0.5, most: float = _limits.MOST_WAIT) -> object: ...
def retry(*args: object, **more: object) -> object:
    """Tries a function again, until it succeeds."""


class Retrying:
    """Controls what retry does to a function, and what it does again."""
'''


@pytest.mark.req("A1", "A2")
def test_a_function_that_takes_anything_is_told_with_its_fullest_overload(install, ask_about):
    """A plain word that is said to be the library's own is its function of that name."""
    install("retry", {"retry/__init__.py": RETRY, "retry/_limits.py": "MOST_WAIT = 1000.0\n"})
    told, _level = ask_about("retry", "What does retry's retry do?")
    assert 'stop="never", wait=0.5' in told
    assert "Tries a function again, until it succeeds." in told
    told, _level = ask_about("retry", "What is the default of most in retry.retry?")
    assert "default `_limits.MOST_WAIT`" in told


CLIENTS = '''\
"""Clients of services."""


def client(service: str) -> object:
    """Creates a client of a service, whose methods are made from its model."""
'''


@pytest.mark.req("A1")
def test_a_method_that_is_made_at_run_time_from_a_model_is_not_said_to_be_missing(install, ask_about):
    """What the package itself would have is."""
    files = {"cloud/__init__.py": CLIENTS, "cloud/data/store/2020-01-01/service-2.json": "{}"}
    install("cloud", files)
    assert "nothing named" not in ask_about("cloud", "What does the cloud client list_objects_v2 do?")[0]
    assert "nothing named `cloud.list_it`" in ask_about("cloud", "What does cloud.list_it do?")[0]
    install("plain", {"plain/__init__.py": CLIENTS})
    assert (
        "nothing named `list_objects_v2`"
        in ask_about("plain", "What does the plain client list_objects_v2 do?")[0]
    )


JSON = '''\
def decode(buf, type=None, strict=True): ...


def encode_lines(struct):
    """Encodes a struct into lines of JSON."""
'''


@pytest.mark.req("A1")
def test_a_how_to_begins_with_a_function_that_it_names_in_full_though_it_has_no_documentation(
    install, ask_about
):
    install("packs", {"packs/__init__.py": '"""Packs things."""\n', "packs/json.py": JSON})
    told, _level = ask_about("packs", "How do I decode JSON into a struct with packs.json.decode?")
    assert "`packs.json.decode(buf, type=None, strict=True)`" in told
    assert "packs.json.encode_lines" not in told.partition("packs.json.decode(")[0]


@pytest.mark.req("A1", "A7")
def test_keywords_that_are_listed_below_kwargs_are_parameters(install, ask_about):
    """As pymongo lists the options of its client; a bullet within one is part of it."""
    source = '''\
        class Client:
            """A client.

            :param host: Where to connect to.
            :param kwargs: **Further options:**

              - `poolSize` (optional): The number of open connections.
                Defaults to 100.

                - `never`: more on that
              - `retryReads`: Whether a read is tried again.
            """

            def __init__(self, host, **kwargs): ...
        '''
    install("crate", {"crate/__init__.py": source})
    told, _level = ask_about("crate", "What does poolSize do in crate.Client?")
    assert told.startswith("`crate.Client(poolSize=...)`: The number of open connections.")
    assert "tried again" not in told


@pytest.mark.req("A1", "A7")
def test_a_setting_that_a_class_describes_bears_its_own_name(install, ask_about):
    """gunicorn tells each setting as a class."""
    source = '''\
        class Setting: ...

        class MaxRequests(Setting):
            name = "max_requests"
            cli = ["--max-requests"]
            default = 40
            desc = """The maximum number of requests a worker will process before restarting."""
        '''
    install("crate", {"crate/__init__.py": "", "crate/config.py": source})
    told, level = ask_about("crate", "What is the default of max_requests in crate?")
    assert told.startswith("The default of `max_requests` is `40`.")
    assert "a worker will process before restarting" in told
    assert level != "low"


@pytest.mark.req("A2", "A3")
def test_what_the_code_takes_in_place_of_a_marker_has_its_value(install, ask_about):
    """As aiohttp's `DEFAULT_TIMEOUT` for `sentinel`."""
    source = '''\
        from typing import Final

        sentinel = object()
        DEFAULT_WAIT: Final[int] = 5 * 60

        class Session:
            """A session."""

            def __init__(self, wait=sentinel):
                if wait is sentinel:
                    wait = DEFAULT_WAIT
                self.wait = wait
        '''
    install("crate", {"crate/__init__.py": source})
    told, _level = ask_about("crate", "What is the default of wait in crate.Session?")
    assert "`DEFAULT_WAIT`, which is `5 * 60`" in told


@pytest.mark.req("A3")
@pytest.mark.parametrize(
    "returns",
    [
        "Returns:\n                (dict): The status, with the exit code as `Code`.",
        ":returns: The status, with the exit code as `Code`.",
    ],
)
def test_what_is_returned_is_told_where_it_is_asked_for(install, ask_about, returns):
    source = f'''\
        def wait(ship):
            """Wait for a ship.

            {returns}
            """
        '''
    install("crate", {"crate/__init__.py": source})
    told, _level = ask_about("crate", "How do I get the exit code from crate.wait?")
    assert "The status, with the exit code as `Code`." in told


@pytest.mark.req("A2")
def test_an_item_of_a_list_decides(install, ask_about):
    """A README's list of what a library is."""
    readme = "# Crate\n\nStores things.\n\n## Features\n\n- Pure Python\n- Thread-safe and process-safe\n"
    install("crate", {"crate/__init__.py": 'class Crate:\n    """A crate."""\n'}, readme=readme)
    told, _level = ask_about("crate", "Is crate.Crate thread-safe and process-safe?")
    assert "Thread-safe and process-safe" in told
    assert "Pure Python" not in told


@pytest.mark.req("A2")
def test_where_a_default_comes_from_is_no_question_for_its_value(install, ask_about):
    source = '''\
        def option(envvar=None, show_envvar=False):
            """An option.

            Args:
                envvar: The environment variable that the default is read from.
                show_envvar: Whether the environment variable is shown.
            """
        '''
    install("crate", {"crate/__init__.py": source})
    told, _level = ask_about(
        "crate", "How do I make a crate option read its default from an environment variable?"
    )
    assert not told.startswith("The default of")
