"""The command `kr`. What the fast ways out need is imported first, the rest when it is used."""

import os
import sys


def main(argv: "list[str] | None" = None) -> int:
    """Run the command line and return the exit code.

    Without `argv` it is the program `kr` itself: a call that was dropped does not keep the process.

    0 an answer; 1 anything unforeseen; 2 wrong use, configuration or request; 3 a plugin; 4 no content; 5 waiting
    for a human; 129, 130, 131, 143 ended by SIGHUP, Ctrl-C, SIGQUIT, SIGTERM.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):
        from kr_core._version import __version__

        print(f"kr {__version__}")
        return 0
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who has started this program
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  as quick as can be, and open to the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that knows no UTF-8 still gets an answer
            stream.reconfigure(errors="backslashreplace")
    if "research" in arguments:
        from kr_core.cli import replay

        code = replay.serve(arguments)
        if code is not None:
            return code
    from kr_core.cli.command_runner import INTERRUPTED, end_process, run
    from kr_core.terminal_text import Screen

    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Screen(sys.stdout), Screen(sys.stderr)
    if argv is not None:
        try:
            return run(arguments)
        finally:
            sys.stdout, sys.stderr = streams
    import gc

    from kr_core.cli.signals import Signals

    gc.set_threshold(
        20_000, 20, 20
    )  # most that is made at the start stays, and would be looked at time and again
    signals, code = Signals(), INTERRUPTED
    try:
        signals.handle()
        code = run(arguments)
    except (KeyboardInterrupt, OSError):
        if not signals.came:
            raise
    finally:
        code = signals.exit_code(code)
    end_process(code)
    return code
