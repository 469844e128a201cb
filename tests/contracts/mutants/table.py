"""Plugins that are wrong on purpose: each is a right one with a piece of its text replaced.

A line says which contract test must fail and which words its message must hold.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    old: str
    """The text that is replaced; it stands once in the right plugin."""
    new: str
    test: str
    words: tuple[str, ...]


def m(name, old, new, test, *words):
    return Mutant(name, old, new, f"test_{test}", words)


_IMPORT = "import asyncio\n"
_HOOK = "@hookimpl\ndef kr_source() -> Provider[Source]:\n"
_RETURN = "    return Provider(\n"
_FILE = '    """The file, relative to the project."""\n'
_LOOK = "        return await asyncio.to_thread(self.look_up, query.question)\n"
_OUTCOME = "Outcome.ok if found else Outcome.empty"
_INIT = "        self.limits = limits\n"
_ONCE = "called once, on first use"

_ADDED = """\
            self.connection.execute(
                "INSERT INTO events (event, hash, feature, run) VALUES (?, ?, ?, ?)", values
            )
"""
_HASHED = """\
        before = self.connection.execute(query).fetchone() or ("",)
        return hashlib.sha256((before[0] + text).encode()).hexdigest()
"""
_TO_READING = f"""\
{_ADDED}
    def hash(self, text):
        query = "SELECT hash FROM events ORDER BY number DESC LIMIT 1"
{_HASHED}
    def read(self, after, limit):
"""
_NUMBER = """\
        with self.transaction():
            self.connection.execute("INSERT OR IGNORE INTO counters VALUES (?, 0)", (kind,))
            self.connection.execute("UPDATE counters SET number = number + 1 WHERE kind = ?", (kind,))
"""
_CHANGE = """\
        kind, key, status, version, data = document
        with self.transaction():
            query = "SELECT version FROM documents WHERE kind = ? AND key = ?"
            if (self.connection.execute(query, (kind, key)).fetchone() or (0,))[0] != version - 1:
                return False
"""
_READING = """\
        rows = self.rows(
            "SELECT number, event FROM events WHERE number > ? ORDER BY number LIMIT ?", after, limit
        )
"""
_SPEND = """\
        with self.transaction():
            if self.connection.execute("SELECT 1 FROM grants WHERE name = ?", (grant,)).fetchone():
                return True
            if self.count(session_id, story_key) >= limit:
                return False
"""

_KEPT = """\
            items[entry.id] = entry.model_dump(mode="json")
            self.keep(items)
            return WriteResult(entry, entry.path, len(self.entries()))

    def touch"""
_BACK = """\
            items[entry.id] = entry.model_dump(mode="json")
            self.keep(items)
            return WriteResult(entry, entry.path, len(self.entries()))


"""
_MOVE = """\
                items.pop(entry.id) if status == "archived" else None
                items[entry.id] = entry.model_dump(mode="json")
"""
MUTANTS = {
    "source": [
        # what every plugin keeps to
        m("reads at import", _IMPORT, "import asyncio\nimport os\nNAMES = os.listdir('/etc')\n",
          "importing_it_does_no_io", "reads: lists /etc", "reads_at_import.py:5", _ONCE),
        m("writes at import", _IMPORT, "import asyncio\nopen('lines.log', 'a').close()\n",
          "importing_it_does_no_io", "writes: opens lines.log for writing", _ONCE),
        m("connects at import", _IMPORT,
          "import asyncio\nimport socket\ntry:\n    socket.create_connection(('192.0.2.1', 9), 0.01)\nexcept OSError:\n    pass\n",
          "importing_it_does_no_io", "network:", "192.0.2.1", _ONCE),
        m("starts a process at import", _IMPORT, "import asyncio\nimport subprocess\nsubprocess.run(['true'], check=False)\n",
          "importing_it_does_no_io", "process: subprocess.Popen true", _ONCE),
        m("cannot be imported", _IMPORT, "import asyncio\nimport no_such_module\n",
          "importing_it_does_no_io", "failed in a fresh interpreter", "no_such_module"),
        m("imports another plugin", _IMPORT, "import asyncio\nimport kr_plugins.scorers.evidence\n",
          "importing_it_pulls_no_other_plugin", "imports the plugin `evidence`", "inside the function"),
        m("hook not marked", _HOOK, "def kr_source() -> Provider[Source]:\n",
          "the_hook_is_there_and_marked", "not marked", "write `@kr_core.hookimpl` above"),
        m("hook misspelt", "def kr_source()", "def kr_sauce()", "the_hook_is_there_and_marked", "no function `kr_source`"),
        m("second hook misspelt", _HOOK, "@hookimpl\ndef kr_loog():\n    pass\n\n\n" + _HOOK,
          "the_hook_is_there_and_marked", "kr_loog", "is called one of"),
        m("hook with an argument", "def kr_source()", "def kr_source(config)",
          "the_hook_is_there_and_marked", "takes no argument"),
        m("hook returns the component", _RETURN, "    return (\n",
          "the_hook_returns_a_provider", "return `kr_core.Provider(build, SettingsModel)`"),
        m("hook is async", "def kr_source()", "async def kr_source()", "the_hook_returns_a_provider", "is async"),
        m("hook writes", _RETURN, "    open('lines.log', 'a').close()\n" + _RETURN,
          "the_hook_does_no_io", "lines.log for writing", _ONCE),
        m("settings an instance", "settings.limits), LinesSettings", "settings.limits), LinesSettings()",
          "the_hook_returns_a_provider", "give the class"),
        m("settings of another kind", "class LinesSettings(Settings)",
          "import pydantic\nclass LinesSettings(pydantic.BaseModel)",
          "the_hook_returns_a_provider", "no subclass of kr_core.Settings"),
        m("settings take anything", "class Limits(Settings)", "class Limits(Settings, extra='allow')",
          "settings_forbid_unknown_keys", "Limits takes keys that it does not know", 'extra="forbid"'),
        m("setting undocumented", _FILE, "", "settings_are_documented", "LinesSettings.file", "write a docstring below"),
        m("nested setting undocumented", '    """At most so many passages."""\n', "",
          "settings_are_documented", "Limits.passages"),
        m("default is alive", _FILE, _FILE + "    lock: object = __import__('threading').Lock()\n    '''A lock.'''\n",
          "defaults_are_plain_values", "LinesSettings.lock is a live lock", "open what it names in `build`"),
        m("default reads", _FILE,
          _FILE + "    names: list = __import__('pydantic').Field(default_factory=lambda: __import__('os').listdir('/etc'))\n    '''Names.'''\n",
          "defaults_are_plain_values", "reads: lists /etc", "plain value"),
        m("unknown setting swallowed", _FILE,
          _FILE + "    @__import__('pydantic').model_validator(mode='before')\n    def known(cls, values):\n"
          "        return {key: value for key, value in values.items() if key in {'file', 'limits'}}\n",
          "an_unknown_setting_is_refused_by_name", "accepted the unknown setting", "take no key away"),
        m("unknown setting not named", _FILE,
          _FILE + "    @__import__('pydantic').model_validator(mode='before')\n    def known(cls, values):\n"
          "        if set(values) - {'file', 'limits'}:\n            raise ValueError('bad settings')\n        return values\n",
          "an_unknown_setting_is_refused_by_name", "does not name it", "leave unknown keys to pydantic"),
        m("settings raise", _FILE,
          _FILE + "    @__import__('pydantic').model_validator(mode='before')\n    def known(cls, values):\n"
          "        return {'file': values['file']}\n",
          "missing_settings_are_named", "raised KeyError", "raise ValueError in a validator"),
        m("build raises", _INIT, _INIT + "        raise RuntimeError('no lines')\n",
          "it_builds_with_its_settings", "raised RuntimeError: no lines", "`prepare` must lay out"),
        m("build returns nothing", "settings.limits), LinesSettings", "settings.limits) and None, LinesSettings",
          "it_builds_with_its_settings", "returned None"),
        m("query is sync", "    async def query(self, query, context):\n" + _LOOK,
          "    def query(self, query, context):\n        return self.look_up(query.question)\n",
          "what_is_built_satisfies_the_protocol", "write `async def query(self, query, context)`"),
        m("query lacks the context", "async def query(self, query, context)", "async def query(self, query)",
          "what_is_built_satisfies_the_protocol", "cannot be called as the engine does"),
        m("no timeout", "    timeout_seconds = 5.0\n", "",
          "what_is_built_satisfies_the_protocol", "no attribute `timeout_seconds`"),
        # what a source keeps to
        m("external is a word", "external = False", "external = 'no'", "external_and_timeout_are_declared", "'no'", "say True"),
        m("timeout of zero", "timeout_seconds = 5.0", "timeout_seconds = 0", "external_and_timeout_are_declared", "such as 10.0"),
        m("never answers", _OUTCOME, "Outcome.empty", "a_known_question_is_answered", "gave `empty`", "let `prepare`"),
        m("answers without text", "Passage(text=line, lead=line", "Passage(text=' '",
          "a_known_question_is_answered", "without a passage that has text"),
        m("returns a dict", "return Finding(outcome=" + _OUTCOME + ", passages=tuple(found))", "return {'passages': found}",
          "a_known_question_is_answered", "returned dict", "return a kr_core.Finding"),
        m("rephrases", "lead=line", "lead=line.upper()", "quotes_stand_in_their_passage", "`lead`", "quote the text verbatim"),
        m("coverage in percent", "coverage=share", "coverage=100 * share", "quotes_stand_in_their_passage", "from 0 to 1"),
        m("absolute paths", 'url = f"file:{self.file.name}"', 'url = f"file:{self.file}"',
          "citations_are_not_absolute_paths", "absolute path", "relative to the project"),
        m("no address", 'url = f"file:{self.file.name}"', 'url = ""',
          "citations_are_not_absolute_paths", "no `url`", "every quote must be citable"),
        m("always ok", _OUTCOME, "Outcome.ok", "an_unknown_question_is_empty", "gave `ok`", "Outcome.empty"),
        m("raises where it finds nothing", "        found = sorted(", "        found[0]\n        found = sorted(",
          "an_unknown_question_is_empty", "raised IndexError", "Outcome.empty where nothing was found"),
        m("answers differ", "        found = []\n",
          "        found = [Passage(text=str(__import__('time').time_ns()), url='file:clock', coverage=0.1)]\n",
          "the_same_question_gives_the_same_answer", "another answer the second time"),
        m("mixes questions", _LOOK,
          "        self.question = query.question\n        await asyncio.sleep(0.01)\n        return self.look_up(self.question)\n",
          "two_at_once_do_not_mix", "were mixed", "local variables"),
        m("swallows cancellation", _LOOK,
          "        try:\n            await asyncio.sleep(0.2)\n        except asyncio.CancelledError:\n            pass\n" + _LOOK,
          "cancellation_passes", "an answer of its cancellation", "let asyncio.CancelledError pass"),
        m("ignores cancellation", _LOOK,
          "        until = asyncio.get_running_loop().time() + 1.5\n"
          "        while asyncio.get_running_loop().time() < until:\n"
          "            try:\n                await asyncio.sleep(0.1)\n"
          "            except asyncio.CancelledError:\n                pass\n" + _LOOK,
          "cancellation_passes", "went on for 1 s after it was cancelled"),
        m("blocks the loop", _LOOK, "        __import__('time').sleep(0.4)\n" + _LOOK,
          "the_event_loop_is_not_blocked", "blocked the event loop for 0.", "await asyncio.to_thread(...)"),
        m("formats the question", "        found = []\n", "        found = []\n        ('asked: ' + question) % ()\n",
          "hostile_text_stays_data", "the source raised", "for the question"),
        m("evaluates the question", "Passage(text=line, lead=line",
          "Passage(text=__import__('jinja2').Environment(autoescape=True).from_string(line + question if '7191' in question and '{{' in question else '').render() or line, lead=line",
          "hostile_text_stays_data", "evaluated `7191 * 7193`", "never format, template or run it"),
        m("remembers what is gone", 'self.file.read_text("utf-8")',
          "self.file.read_text(\"utf-8\") if self.file.exists() else 'the timeout of a parcel'",
          "what_is_gone_is_no_answer", "gave `ok` though what it reads is gone"),
        m("goes out in secret", "        found = []\n",
          "        found = []\n        try:\n            __import__('socket').create_connection(('192.0.2.1', 9), 0.01)\n"
          "        except OSError:\n            pass\n",
          "it_goes_out_only_as_it_says", "went to the network by itself", "external = True"),
        m("runs a program in secret", "        found = []\n",
          "        found = []\n        __import__('subprocess').run(['/bin/true', question[:9]], check=True)\n",
          "it_runs_only_what_its_settings_name", "subprocess.Popen /bin/true", "`command`, `argv` or the like", "kr trust"),
        m("runs a program when it is built", _INIT, _INIT + "        __import__('os').system('true')\n",
          "it_runs_only_what_its_settings_name", "os.system true", "kr trust"),
        m("does not say which setting", _FILE,
          _FILE + "    @__import__('pydantic').model_validator(mode='after')\n    def one(self):\n"
          "        if not self.model_fields_set:\n            raise ValueError('say what to read')\n        return self\n",
          "missing_settings_are_named", "does not name the key to set", "name the key in your validator's message"),
    ],
    "escalation": [
        m("misspells the webhook", "    async def acknowledge(", "    async def recieve(self, shown, headers, body, context):\n"
          "        return PollResult()\n\n    async def acknowledge(", "optional_abilities_have_their_names", "`recieve`", "rename it to `receive`"),
        m("shows the id alone", "file.write_text(case.message, ", "file.write_text(case.request.id, ", "a_case_is_shown_whole",
          "a person does not see", "the whole of `case.message`"),
        m("does not say where", "        return str(file)\n", "        return True\n", "a_case_is_shown_whole",
          "`open` returned True", "say where the case stands"),
        m("needs an answer", "        file.write_text", "        case.request.answer.content\n        file.write_text",
          "cases_of_all_kinds_are_shown", "`open` raised AttributeError"),
        m("shows a case once", "        file.write_text", '        if list(self.folder.glob(f"{case.request.id}@*")):\n'
          "            return str(file)\n        file.write_text", "a_new_revision_is_shown", "a person does not see 'E7@3'"),
        m("one at a time", "        file.write_text", "        assert not list(self.folder.glob('*.md'))\n        file.write_text",
          "several_at_once_are_shown", "cases at once", "AssertionError"),
        m("shows what was written", "file.write_text(case.message, ", "file.write_text(str(case.message + (case.request.answer or "
          "case.request.question).model_dump_json(exclude={'id'}).encode().decode('unicode_escape')), ",
          "hostile_text_is_shown_as_data", "is shown", "fit to be shown"),
        m("formats a text", "file.write_text(case.message, ", "file.write_text(case.message % (), ", "hostile_text_is_shown_as_data",
          "`open` raised", "as it is"),
        m("confirms by itself", "        found = []\n", "        found = [HumanReply(one, __import__('kr_core').HumanResponse(action='confirm'))"
          " for one in waiting]\n", "nobody_has_replied", "that nobody has given"),
        m("returns commands", 'found.append(HumanReply(command.escalation_id, response, f"{file.name}:{command.line}"))',
          "found.append(command)", "a_reply_is_read", "`poll` returned ReplyCommand", "kr_core.plugin.HumanReply"),
        m("tells no reply from another", ', f"{file.name}:{command.line}")', ")", "a_reply_is_read", "came again as another", "`external_id`"),
        m("does not say who", 'by="ada"', 'by=""', "a_reply_is_read", "does not say who"),
        m("looks for a word", "            for command in read_replies(",
          "            if 'confirm' in file.read_text('utf-8'):\n"
          "                found.append(HumanReply('E7', __import__('kr_core').HumanResponse(action='confirm'), file.name))\n"
          "            for command in read_replies(", "talk_is_no_reply", "was taken for `confirm`", "kr_core.toolkit.read_replies"),
        m("wants every reply understood", "                response = ", "                found or 1 / 0\n                response = ",
          "a_hostile_reply", "`poll` raised ZeroDivisionError"),
        m("tells nothing", '            log.write_text(f"{said}[{notice.id}] {notice.message}\\n", "utf-8")\n', "            pass\n", "what_was_understood_is_said",
          "a person does not see 'E7 is answered"),
        m("shows a case again", 'file.write_text(case.message, "utf-8")', "(self.folder / f'{case.request.id}-{len(list(self.folder.iterdir()))}.md')"
          '.write_text(case.message, "utf-8")', "a_case_is_not_shown_twice", "is shown twice", "after a crash"),
        m("stands elsewhere each time", "        return str(file)\n", "        return f'{file}?{id(self)}{case.location}'\n", "a_case_is_not_shown_twice",
          "the case stands at"),
        m("says it again", 'if f"[{notice.id}]" not in said:', "if True:", "a_notice_is_not_said_twice", "is seen 2 times", "look for that"),
        m("says but some", 'if f"[{notice.id}]" not in said:', 'if f"[{notice.id}]" not in said and notice.kind != "help":',
          "notices_of_all_kinds_are_said", "does not see 'say what to do'"),
        m("knows only those that wait", "waiting, closed).commands", "waiting).commands", "a_late_reply_is_brought", "brought []", "`closed`"),
        m("marks what is to come", "return PollResult(found, files[-1].name if files else mark)", 'return PollResult(found, "~")', "what_is_new_is_brought",
          "brought [] as new"),
        m("numbers what it brings", '{file.name}:{command.line}")', '{len(found)}:{command.line}")', "what_is_new_is_brought", "brought [] as new"),
        m("reads what it says", "        found = []\n", "        cases = self.folder.glob('*.md')\n        found = [HumanReply(one, read_replies('/kr confirm ' + one, [one]).commands[0].response('kr'), 'case')\n"
          "            for one in waiting for case in cases if f'    /kr confirm {one}' in case.read_text()]\n", "what_was_said_is_no_reply", "which nobody wrote but KR"),
        m("lets errors pass", "    async def acknowledge(self, case, notice, context):\n", "    async def acknowledge(self, case, notice, context):\n"
          "        await context.http.get('https://example.org/')\n", "a_network_fault_is_a_request_error", "`acknowledge` raised", "kr_core.RequestError"),
        m("takes a fault for nothing", "    async def acknowledge(self, case, notice, context):\n", "    async def acknowledge(self, case, notice, context):\n"
          "        try:\n            await context.http.get('https://example.org/')\n        except Exception:\n            return\n",
          "a_network_fault_is_a_request_error", "said nothing of it"),
    ],
    "router": [
        m("returns a name", 'self._table().routed(question.topic, target, f"the word {word}")', "target",
          "a_known_question_is_sent_to_somebody", "return a kr_core.Route"),
        m("says no reason", 'f"the word {word}")', '"")', "a_known_question_is_sent_to_somebody", "no `reason`"),
        m("sends to nobody", 'f"the word {word}")', 'word).model_copy(update={"agent": word})', "a_known_question_is_sent_to_somebody",
          "is nobody of the roster"),
        m("an agent where a human answers", 'f"the word {word}")', 'word).model_copy(update={"target": "human"})',
          "a_known_question_is_sent_to_somebody", "the agent is None where the target is"),
        m("sends everything", "        return None", '        return self._table().routed("", "duc", "the rest")',
          "an_unknown_question_is_left_to_others", "return None where it does not know"),
        m("raises where it does not know", "        return None", "        raise LookupError(said)", "an_unknown_question_is_left_to_others",
          "the router raised LookupError"),
        m("takes turns", "        said = ", "        self._words = dict(reversed(self._words.items()))\n        if 'store' in self._words or len(vars(self)) < 3:\n            self.turn = 1\n            return self._table().routed('', 'veuve', 'its turn')\n        said = ",
          "it_is_pure", "nothing kept between calls"),
        m("reads a file", "        said = ", "        __import__('os').listdir('/etc')\n        said = ", "it_is_pure", "touched something outside"),
        m("formats a text", "        said = ", "        question.text % ()\n        said = ", "hostile_text_is_routed", "the router raised"),
        m("trusts the target", "        said = ", "        if question.suggested_target:\n            return self._table().routed('', question.suggested_target, 'asked')\n        said = ",
          "a_target_that_there_is_not", "the router raised StopIteration"),
    ],
    "agent": [
        m("misspells that it needs a model", "        self.key = key\n", "        self.key = key\n        self.need_model = True\n",
          "optional_abilities_have_their_names", "`need_model`", "rename it to `needs_model`"),
        m("says nothing", 'return Reply(text=told["text"], input', "return Reply(input",
          "a_question_is_answered", "neither `text` nor `data`"),
        m("a dict", 'return Reply(text=told["text"], input_tokens=told["tokens"])', "return told",
          "a_question_is_answered", "no kr_core.plugin.Reply"),
        m("guesses tokens", 'input_tokens=told["tokens"]', "input_tokens=-1",
          "what_it_counts_is_told_in_whole_numbers", "`input_tokens` is -1"),
        m("one at a time", "        headers = {", "        assert not self.__dict__.get('busy'), 'busy'\n        self.busy = True\n        headers = {",
          "several_at_once_are_answered", "asked 5 times at once", "local"),
        m("formats the prompt", '{"prompt": job.prompt}', '{"prompt": job.prompt % ()}',
          "hostile_text_stays_data", "kr_core.RequestError", "hostile (format)"),
        m("lets errors of httpx pass", "except httpx.TransportError as error:", "except httpx.TimeoutException as error:",
          "a_network_fault_is_a_request_error", "ConnectError", "kr_core.RequestError"),
        m("body before status", "        if not answer.is_success:\n", "        if not answer.content:\n            return Reply(text='-')\n        if False:\n",
          "a_network_fault_is_a_request_error", "though the network failed"),
        m("an outcome that is none", 'Outcome.unavailable, f"answered', '"oops", f"answered',
          "a_network_fault_is_a_request_error", "has the outcome 'oops'"),
        m("tells its key in an error", 'f"cannot be reached: {error}"', 'f"cannot be reached: {error} {headers}"',
          "secrets_are_not_told", "stands in what it made", "header"),
        m("tells its key in an event", 'job.emit("agent.heard", {"text": told["text"]})', 'job.emit("agent.heard", {"text": self.key})',
          "secrets_are_not_told", "stands in an event"),
        m("waits for ever for what is gone", "except httpx.TransportError as error:", "except BaseException as error:",
          "cancellation_passes", "of its cancellation"),
        m("own client", "await job.http.post(", "httpx.Client().post(", "it_goes_out_only_by_the_client_of_the_job", "`job.http`"),
        m("runs a program", "        told = json_of(answer)", "        import subprocess; subprocess.run(['true'])\n        told = json_of(answer)",
          "it_runs_only_what_its_settings_name", "no setting names", "kr trust"),
    ],
    "external_source": [
        m("waits for ever for what is gone", "except httpx.ConnectError as error:", "except BaseException as error:",
          "cancellation_passes", "an answer of its cancellation"),
        m("own client", "await context.http.get(", "httpx.get(", "it_goes_out_only_as_it_says", "`context.http`"),
        m("body before status", '            answer.raise_for_status()\n            hits = answer.json()["hits"]\n',
          "            hits = [{'text': answer.text, 'url': ADDRESS}]\n",
          "a_network_fault_is_no_answer", "gave `ok` though the network failed", "check status, type and body"),
        m("a refusal read as an answer", '            hits = answer.json()["hits"]\n',
          "            hits = [{'text': answer.text, 'url': ADDRESS}]\n",
          "a_network_fault_is_no_answer", "gave `ok` though the network failed (quota_text)"),
        m("a failure read as nothing", "Finding(outcome=Outcome.bad_answer,", "Finding(outcome=Outcome.empty,",
          "a_network_fault_is_no_answer", "gave `empty` though the network failed"),
        m("charges for no connection", ", reached=False", "", "a_network_fault_is_no_answer", "reached=True", "budget"),
    ],
    "store": [
        m("lacks touch", "    def touch(", "    def use(", "what_is_built_satisfies_the_protocol", "no method `touch`"),
        m("index is positional", "entry, *, index=True", "entry, indexed=True",
          "what_is_built_satisfies_the_protocol", "`write` cannot be called as the engine does"),
        m("read is async", "    def read(", "    async def read(", "what_is_built_satisfies_the_protocol", "does not await it"),
        m("counts every write", _KEPT, _KEPT.replace("len(self.entries())", "self.count").replace("            return", "            self.count = getattr(self, 'count', 0) + 1\n            return"),
          "it_behaves_like_its_model", "updated in place, not added"),
        m("keeps the first", _KEPT, _KEPT.replace('[entry.id] = entry.model_dump(mode="json")', '.setdefault(entry.id, entry.model_dump(mode="json"))'),
          "it_behaves_like_its_model", "keep it as it is"),
        m("loses the evidence", 'kept["report"], kept["evidence"]', 'kept["report"], {}',
          "it_behaves_like_its_model", "keep text and evidence as they are"),
        m("touch is forgotten", '            items[entry.id]["last_accessed"] = today.isoformat()\n', "",
          "it_behaves_like_its_model", "`touch(entry, today)` notes the day"),
        m("touch returns nothing", "            return len(self.entries())\n\n    def drop", "\n    def drop",
          "it_behaves_like_its_model", "`touch` returned None", "number of entries"),
        m("drops too much", "items.pop(entry.id, None)", "[items.pop(one.id) for one in self.entries()]", "it_behaves_like_its_model", "stays until it is dropped"),
        m("drops nothing", "            items.pop(entry.id, None)\n", "", "it_behaves_like_its_model", "`drop` left the entry"),
        m("a skeleton overwrites", "if index or not file.exists()", 'if index or items.get(entry.id, {}).get("status") != "archived"',
          "it_behaves_like_its_model", "overwrote a report that was there"),
        m("a skeleton is indexed", "            if not index:\n                return WriteResult(None, entry.path, len(self.entries()))\n", "",
          "it_behaves_like_its_model", "`write(..., index=False)` returned an entry"),
        m("too few candidates", "if fold_name(entry.framework) == asked]", "if entry.topic == query.question]",
          "it_behaves_like_its_model", "not among the candidates"),
        m("sorts the index", "self.items().values()]", "self.items().values()][::-1]",
          "it_behaves_like_its_model", "a new one comes last"),
        m("forgets when opened anew", 'folder / "index.json"', 'folder / f"index-{id(self)}.json"',
          "it_behaves_like_its_model", "an entry stays until it is dropped"),
        m("archives what nobody chose", "choose(self.entries())]", "self.entries()]", "it_behaves_like_its_model", "call it once, with all entries"),
        m("shows choose a part", "choose(self.entries())]", "choose(self.entries()[:1])]", "it_behaves_like_its_model", "call it once, with all entries"),
        m("archiving deletes", _MOVE, _MOVE.splitlines()[0] + "\n", "it_behaves_like_its_model", "stays in the archive"),
        m("archived is a word only", '(entry.status == "archived") == archived]', '(entry.status == "archived") >= archived]',
          "it_behaves_like_its_model", "archived"),
        m("archives in secret", "return ChangeResult(chosen)", "return ChangeResult(())", "it_behaves_like_its_model", "return the chosen entries"),
        m("the archive minds the case", "fold_name(entry.framework) == fold_name(framework)]", "entry.framework == framework]",
          "it_finds_the_archive_of_a_framework", "`archived_of('Parcel')`"),
        m("writes over anything", "            if self.read(entry) != before:\n                return None\n", "",
          "it_writes_over_what_was_read_only", "`write_over` returned"),
        m("restores half", _BACK, _BACK.replace("            self.keep(items)\n", ""), "it_behaves_like_its_model", "`restore` said that there are"),
        m("archived ones are candidates", "        same = [entry for entry in self.entries()", "        same = [entry for entry in self.entries() + self.archived()",
          "it_behaves_like_its_model", "leave archived entries out"),
        m("remembers", '        return json.loads(self.index.read_text("utf-8")) if self.index.exists() else {}\n',
          '        if not getattr(self, "kept", None):\n            self.kept = json.loads(self.index.read_text("utf-8")) if self.index.exists() else {}\n        return self.kept\n',
          "it_behaves_like_its_model", "an entry stays until it is dropped"),
        m("raises", "        asked = fold_name(query.framework)\n", "        asked = fold_name(query.framework)\n        {}[asked]\n",
          "it_behaves_like_its_model", "`candidates` raised KeyError", "raise kr_core.StorageError"),
        m("no lock", "        with lock(self.folder):\n            items = self.items()\n            if index or",
          "        self.folder.mkdir(parents=True, exist_ok=True)\n        if True:\n            items = self.items()\n"
          "            __import__('time').sleep(0.02)\n            if index or",
          "two_processes_lose_nothing", "lacks", "hold a lock on the folder"),
        m("reading makes files", "    def items(self):\n",
          "    def items(self):\n        self.folder.mkdir(parents=True, exist_ok=True)\n        (self.folder / 'made').touch()\n",
          "a_new_knowledge_base_is_empty", "reading made", "on the first write"),
        m("reads outside", "        file = inside(self.folder, entry.path)\n        if file is None or not file.is_file():\n            return None\n",
          "        file = self.folder / entry.path\n        if not file.is_file():\n            return None\n"
          "        if entry.path.endswith('escaped.md'):\n            return file.read_text(), {}\n",
          "hostile_paths_stay_inside", "gave a file outside the knowledge base", "kr_core.toolkit.inside"),
        m("writes outside", "        file = inside(self.folder, entry.path)\n        if file is None:\n",
          "        file = self.folder / entry.path\n        if file is None:\n",
          "hostile_paths_stay_inside", "led out of the knowledge base", "kr_core.toolkit.inside"),
        m("names files by the framework", "        file = inside(self.folder, entry.path)\n        if file is None:\n",
          "        file = self.folder / entry.framework / 'report.md'\n        if file is None:\n",
          "hostile_names_stay_inside", "../.."),
    ],
    "journal": [
        m("begins at 0", "return [(number, self", "return [(number - 1, self", "events_come_back_as_they_were", "numbers begin at 1"),
        m("newest first", "ORDER BY number LIMIT", "ORDER BY number DESC LIMIT", "events_come_back_as_they_were", "in their order"),
        m("loses the run", "return Event(kind, run,", "return Event(kind, '',", "events_come_back_as_they_were", "keep each event whole"),
        m("no future", "        return done\n", "", "events_come_back_as_they_were", "returned NoneType", "Future"),
        m("never resolves", "        done.set_result(None)\n", "        done.set_exception(TimeoutError())\n",
          "events_come_back_as_they_were", "did not resolve"),
        m("ignores the limit", "text in rows]", "text in rows for _ in range(2)]", "reading_goes_on_after_a_number", "logs are fed by it"),
        m("reads from the number on", "WHERE number > ?", "WHERE number >= ?", "reading_goes_on_after_a_number", "the number `after`"),
        m("confirms too early",
          '            self.connection.execute("BEGIN IMMEDIATE")\n            try:\n                yield\n'
          '                self.connection.execute("COMMIT")\n',
          '            if not self.connection.in_transaction:\n                self.connection.execute("BEGIN IMMEDIATE")\n'
          "            try:\n                yield\n",
          "what_is_confirmed_survives_the_process", "0 are there", "only when the events are on the disk"),
        m("keeps nothing", 'folder / "journal.db"', "':memory:'", "a_journal_opened_anew_has_all", "setup.state_folder"),
        m("gives numbers twice", "return [(number, self", "return [(min(number, 2), self", "threads_lose_nothing", "under one lock"),
        m("closes at once", "        done.set_result(None)\n",
          "        threading.Timer(0.05, done.set_result, (None,)).start()\n",
          "closing_waits_for_what_is_queued", "were not confirmed", "write what is queued first"),
        m("one cursor for all", 'WHERE log = ?", log)', 'WHERE log != ?", "")', "each_log_has_a_cursor", "keep one for each log"),
        m("the last result stays", "INSERT OR IGNORE INTO steps", "INSERT OR REPLACE INTO steps",
          "the_first_result_of_a_step_stays", "ignore a second result"),
        m("steps of all runs", 'WHERE run = ? AND key = ?", run, key)', 'WHERE key = ?", key)',
          "the_first_result_of_a_step_stays", "keep them apart"),
        m("one too many", ">= limit", "> limit", "a_budget_has_its_limit", "only while fewer than `limit` are taken"),
        m("one budget for all stories", 'WHERE session = ? AND story = ?"\n        return', "WHERE session = ? AND '' != ?\"\n        return",
          "a_budget_has_its_limit", "count by session and story"),
        m("a grant is charged again", "                return True\n            if self.count",
          "                grant += '+'\n            if self.count", "a_grant_is_charged_once", "a grant that was given is given again"),
        m("no refund", "DELETE FROM grants WHERE name = ?", "DELETE FROM grants WHERE name = ? || '+'",
          "a_refund_gives_the_call_back", "forget the grant that is refunded"),
        m("refunds the story", "DELETE FROM grants WHERE name = ?", "DELETE FROM grants WHERE '' != ?",
          "a_refund_gives_the_call_back", "and nothing else"),
        m("the budget races between processes",
          _SPEND, _SPEND.replace("self.transaction()", "self.lock") + "            __import__('time').sleep(0.02)\n",
          "a_budget_is_exact_across_processes", "two processes were given", "in one transaction"),
        m("the budget races between threads",
          _SPEND, _SPEND.replace("with self.transaction():", "if True:").replace("self.connection.execute(", "self.rows(").replace(
              "(grant,)).fetchone()", "grant)").replace("self.count(", "self.spent(")
          + "            __import__('time').sleep(0.02)\n        with self.transaction():\n",
          "a_budget_is_exact_across_threads", "threads of one process were given", "under one lock"),
        m("reads what it appended itself", _TO_READING + _READING,
          "            self.known = [*getattr(self, 'known', ()), text]\n" + _TO_READING
          + "        rows = [*enumerate(getattr(self, 'known', ()), 1)][after : after + limit]\n",
          "journals_open_at_once_hold_the_same", "look at what is kept now"),
        m("counts by itself", _ADDED,
          "            self.count_ = getattr(self, 'count_', 0) + 1\n"
          '            self.connection.execute("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?)", (self.count_, *values))\n',
          "processes_lose_nothing", "two processes appended at once, 40 events"),
        m("data as text", "self.event(text))", "self.event(text.replace('{{', '')))", "hostile_text_is_data", "keep `data` as JSON"),
        # the record
        m("entries of any exchange", 'if exchange in {"", one[1].run}', "if one", "entries_of_a_feature_and_of_an_exchange", "its exchange is its run"),
        m("all entries at once", "run}][:limit]", "run}]", "entries_of_a_feature_and_of_an_exchange", "page by page"),
        m("a chain of its own", _HASHED,
          '        self.last = hashlib.sha256((getattr(self, "last", "") + text).encode()).hexdigest()\n        return self.last\n',
          "a_whole_record_verifies", "a record that nobody touched has flaws", "in which it gets its number"),
        m("verifies nothing", "!= told:", "!= told and False:", "an_altered_event_shows", "`verify` says nothing"),
        m("hashes the kind alone", _HASHED, _HASHED.replace("text)", "text.replace('as-it-was-written-down', 'as-somebody-altered-it'))"),
          "an_altered_event_shows", "keep with each event a hash"),
        # documents
        m("one counter for all kinds", "    def number(self, kind):\n", "    def number(self, kind):\n        kind = 'any'\n",
          "numbers_are_given_once", "count each kind for itself"),
        m("numbers in memory", "    def number(self, kind):\n",
          "    def number(self, kind):\n        self.count_ = getattr(self, 'count_', 0) + 1\n        return self.count_\n",
          "numbers_are_given_once", "give 1, 2, 3, 4"),
        m("numbers race", _NUMBER, _NUMBER.replace("self.transaction()", "self.lock") + "            __import__('time').sleep(0.002)\n",
          "numbers_are_given_once_across_processes", "in one transaction"),
        m("forgets the status", "Document(*rows[0][:4], json", "Document(*rows[0][:2], 'open', rows[0][3], json",
          "a_document_changes_version_by_version", "keep status, version and data together"),
        m("changes without events", "            self.add(events)\n            return True\n", "            return True\n",
          "a_document_changes_version_by_version", "append them in the same transaction"),
        m("takes any version", "!= version - 1:", "< version - 1:", "a_change_that_comes_too_late_changes_nothing", "was not refused"),
        m("events of a refusal", _CHANGE, _CHANGE.replace("            query", "            self.add(events)\n            query", 1),
          "a_change_that_comes_too_late_changes_nothing", "left its events behind"),
        m("pages that overlap", "rowid > ? ORDER", "rowid >= ? ORDER", "documents_are_listed", "`after` is a key"),
        m("versions by name", 'ORDER BY rowid", kind)', 'ORDER BY key", kind)', "versions_are_listed", "in which they were new"),
        m("newest document first", "ORDER BY rowid LIMIT", "ORDER BY rowid DESC LIMIT", "documents_are_listed", "list the oldest first"),
        m("lists by change", "INSERT OR IGNORE INTO documents", "INSERT OR REPLACE INTO documents", "documents_are_listed", "by when each was new"),
        m("versions race between processes",
          _CHANGE, _CHANGE.replace("self.transaction()", "self.lock") + "            __import__('time').sleep(0.02)\n",
          "a_change_survives_the_process", "exactly one makes each"),
        m("versions race between threads",
          _CHANGE, _CHANGE.replace("with self.transaction():", "if True:").replace("self.connection.execute(", "[*self.rows(").replace(
              "(kind, key)).fetchone() or (0,))[0]", "kind, key), (0,)])[0][0]")
          + "            __import__('time').sleep(0.02)\n        with self.transaction():\n",
          "threads_change_a_document", "under one lock"),
    ],
    "log": [
        m("writes what comes again", "if record.number > last:", "if True:", "what_comes_again_is_skipped", "are there twice", "skip the numbers"),
        m("remembers in memory", '        lines = self.file.read_text("ascii").splitlines() if self.file.exists() else []\n'
          "        return int(lines[-1].split()[0]) if lines else 0\n",
          "        known, self.known = getattr(self, 'known', 0), getattr(self, 'known', 0) + 4\n        return known\n",
          "it_remembers_across_programs", "also after a restart"),
        m("newest first", "for record in records:", "for record in records[::-1]:", "events_are_kept_in_order", "another order"),
        m("writes later", "        with lock(self.folder):\n            last",
          "        self.waiting = records\n        return\n        with lock(self.folder):\n            last",
          "events_are_kept_in_order", "none of the events", "override `kept`"),
        m("needs an event", "            last = self.last()\n", "            last = self.last()\n            records[0]\n",
          "nothing_to_write_is_no_error", "raised IndexError", "only where the events could not be kept"),
        m("takes a hundred", "for record in records:", "for record in records[:100]:", "many_at_once", "are missing", "all events"),
        m("changes the events", "            last = self.last()\n",
          "            last = self.last()\n            [record.event.data.pop('text') for record in records]\n",
          "what_it_is_given_stays_as_it_is", "work on copies"),
        m("trusts the text", "{record.event.data!a}", "{record.event.data['text']}", "hostile_text_is_data", "texts may hold anything"),
    ],
    "lookup": [
        m("finds nothing", '                return EntryMatch(entry, "topic", 1.0, exact=True)\n', "                break\n",
          "the_entry_on_the_same_topic_is_found", "found nothing"),
        m("takes the first", "            if (entry.framework, entry.topic) == (query.framework, query.topic):\n",
          "            if entry.framework == query.framework:\n", "the_entry_on_the_same_topic_is_found", "answers best"),
        m("wants a list", "        for entry in entries:\n", "        for entry in [] + entries:\n",
          "the_entry_on_the_same_topic_is_found", "any sequence"),
        m("returns a copy", "EntryMatch(entry, ", "EntryMatch(entry.model_copy(), ", "the_entry_on_the_same_topic_is_found", "the object from"),
        m("overlap in percent", "1.0, exact", "100.0, exact", "the_entry_on_the_same_topic_is_found", "a share, 0 to 1"),
        m("answers everything", "(entry.framework, entry.topic) == (query.framework, query.topic)",
          "(entry.framework, entry.topic) == (query.framework, query.topic) or len(entries) == 1",
          "what_is_about_something_else_is_not_found", "return None where no entry"),
        m("no reasons", '("stale", (f"it is {age} days old",))', '("stale")', "a_decision_says_why", "without a reason"),
        m("a state of its own", '"stale", (', '"old", (', "a_decision_says_why", "`hit`, `stale` or `miss`"),
        m("returns a word", 'return LookupDecision("hit")', 'return "hit"', "a_decision_says_why", "return a kr_core.plugin.LookupDecision"),
        m("asks the clock", "(rules.today - since)", "(__import__('datetime').date.today() - since)",
          "the_day_is_that_of_the_rules", "not from the clock"),
        m("trusts the day", "report.researched or match.entry.created", "report.researched", "a_decision_says_why", "raised TypeError"),
        m("counts its calls", "        since = ", "        self.calls = getattr(self, 'calls', 0) + 1\n        if self.calls > 2:\n"
          "            return LookupDecision('miss', ('asked too often',))\n        since = ", "it_is_pure", "nothing kept between calls"),
        m("changes the evidence", "        since = ", "        report.evidence.clear()\n        since = ", "it_is_pure", "work on copies"),
        m("reads a file", "        since = ", "        __import__('os').listdir('/etc')\n        since = ", "it_is_pure", "touched something outside"),
        m("trusts the evidence", "        since = ", "        (report.evidence.get('level') or '').upper()\n        since = ",
          "hostile_text_is_decided", "raised AttributeError"),
    ],
    "scorer": [
        m("another scale", "value >= 80", "value >= 95", "a_score_has_its_level_and_reasons", "`high` is from 80"),
        m("no reasons", '(f"it covers {best:.0%}",)', "()", "a_score_has_its_level_and_reasons", "without a reason"),
        m("returns a number", 'return Score(score=value, level=level, reasons=(f"it covers {best:.0%}",))', "return value",
          "a_score_has_its_level_and_reasons", "return a kr_core.plugin.Score"),
        m("raises where nothing is found", "        if not draft.citations:\n", "        draft.citations[0]\n        if not draft.citations:\n",
          "nothing_found_is_low", "raised IndexError", "give a low score"),
        m("sure of nothing", 'Score(score=0, level="low"', 'Score(score=60, level="medium"', "nothing_found_is_low", "cites nothing"),
        m("counts its calls", "        level = ", "        self.calls = getattr(self, 'calls', 0) + 1\n        value -= self.calls\n        level = ",
          "it_is_pure", "nothing kept between calls"),
        m("changes the draft", "        level = ", "        draft.passages.clear()\n        level = ", "it_is_pure", "work on copies"),
        m("reads a file", "        level = ", "        __import__('os').listdir('/etc')\n        level = ", "it_is_pure", "touched something outside"),
        m("hangs", "        level = ", "        __import__('threading').Event().wait()\n        level = ",
          "a_score_has_its_level_and_reasons", "did not end within 5 s", "KR gives it up"),
        m("is for contract 1", "\n\nclass Cautious:", "\nKR_CONTRACT = 1\n\n\nclass Cautious:", "it_is_written_for_this_contract",
          "written for contract 1", "set KR_CONTRACT"),
        m("is for contract 3", "\n\nclass Cautious:", "\nKR_CONTRACT = 3\n\n\nclass Cautious:", "it_is_written_for_this_contract",
          "written for contract 3"),
        m("imports what is private", "\n\nclass Cautious:", "\nfrom kr_core.text import content_words\n\n\nclass Cautious:",
          "it_imports_public_modules_only", "kr_core.text (scorer_imports_what_is_private.py:"),
        m("formats a text", "        level = ", "        draft.summary[0].text % ()\n        level = ", "hostile_text_is_scored", "the scorer raised"),
    ],
    "embedder": [
        m("no identity", 'identity = "counts/64"', 'identity = " "', "it_has_an_identity", "set it to the model's name"),
        m("drops a text", "for text in texts]", "for text in texts[:2]]", "each_text_has_its_vector", "return one for each"),
        m("other lengths", "places = [0.0] * 64", "places = [0.0] * (64 + len(text))", "each_text_has_its_vector", "different lengths"),
        m("not a number", "return places", "return [float('nan'), *places[1:]]", "each_text_has_its_vector", "no finite number"),
        m("all zero", "+= 1.0", "+= 0.0", "each_text_has_its_vector", "near nothing"),
        m("another order", "for text in texts]", "for text in reversed(texts)]", "each_text_has_its_vector", "in the order of the texts"),
        m("by chance", "return places", "return [value + __import__('random').random() for value in places]",
          "the_same_text_has_the_same_vector", "depend on the text and the model alone"),
        m("knows letters only", "text.lower().split()", "[text[:1]]", "what_means_the_same_is_near", "about swallows"),
        m("one for nothing", "return [self.vector(text) for text in texts]", "return [self.vector(text) for text in texts or ['']]",
          "no_text_has_no_vector", "return none"),
        m("refuses a long text", "        places =", "        assert len(text) < 1000\n        places =", "any_text_has_a_vector", "every text has a vector"),
    ],
    "runtime": [
        m("in memory", "connect(self._file,", 'connect(":memory:",', "what_was_queued_is_performed", "where the workers of all processes find them"),
        m("queues twice", "INTO waiting VALUES (?,", "INTO waiting VALUES (? || random(),",
          "a_run_waits_once", "performed 3 times"),
        m("all queues", "queue IN (SELECT value FROM json_each(?))", "? != ''", "other_queues_are_left_alone", "the runs of `queues` only"),
        m("the lowest first", "priority DESC", "priority", "the_higher_priority_is_first", "the highest first"),
        m("one at a time", "len(begun) < concurrency", "not begun", "no_more_at_once_than_was_said", "take more"),
        m("all at once", "len(begun) < concurrency", "True", "no_more_at_once_than_was_said", "where `concurrency` is 1"),
        m("gives up", "await asyncio.to_thread(self._put, run, time.time() + _AGAIN_SECONDS)", "raise",
          "one_that_fails_is_handed_out_again", "when `perform` raises"),
        m("takes more after the stop", " and not stop.is_set()", "", "what_has_begun_is_ended", "take no more"),
        m("leaves what has begun", "while not stop.is_set() or begun:", "while not stop.is_set():", "what_has_begun_is_ended", "wait for those"),
        m("lets go at once", "_LEASE_SECONDS = 20.0", "_LEASE_SECONDS = -1.0", "several_workers_share_the_runs",
          "take a run in one step"),
    ],
    "renderer": [
        m("leaves a claim out", "in draft.summary]", "in draft.summary[:1]]", "claims_and_code_are_printed", "so that `kr verify` finds it"),
        m("leaves the short code out", "in draft.summary_code]", "in ()]", "claims_and_code_are_printed", "print `draft.summary_code`"),
        m("leaves the details out", "in draft.details]", "in ()]", "claims_and_code_are_printed", "each `draft.details` text"),
        m("leaves the caveats out", "in draft.caveats]", "in ()]", "claims_and_code_are_printed", "each `draft.caveats` text"),
        m("leaves the code out", "in draft.code]", "in ()]", "claims_and_code_are_printed", "print `draft.code`"),
        m("leaves the notes out", "in report.notes)", "in ())", "claims_and_code_are_printed", "print `report.notes`"),
        m("claims in a row", "lines += [line(claim.text) for claim in draft.details]",
          'lines[2] += " ".join(["", *(line(claim.text) for claim in draft.details)])',
          "what_is_printed_can_be_verified", "not in the report as it was checked", "on a line of its own"),
        m("no mark below the code", r"\n````\n[{example.citation}]", r"\n````\n", "what_is_printed_can_be_verified",
          "its citation mark is not the one", "alone on the line below"),
        m("citations without a heading", '["## Source Attribution", "Citations:"]', '["Citations:"]',
          "what_is_printed_can_be_verified", "a sentence that was never checked", "under `## Source Attribution`"),
        m("another title", 'f"# {line(report.query.framework)} - ', 'f"# Report on {line(report.query.framework)} - ',
          "what_is_printed_can_be_verified", "title: it is not that of the evidence"),
        m("adds a sentence", '"## Source Attribution", "Citations:"', '"This is certain.", "## Source Attribution", "Citations:"',
          "what_is_printed_can_be_verified", "This is certain.", "under a heading of its own"),
        m("leaves the locator out", " {one.locator}", "", "citations_are_printed", "`n`, `url` and `locator`"),
        m("prints the time", 'report.mark or ""]', "report.mark or \"\", str(__import__('time').time_ns())]",
          "it_is_pure", "no clock"),
        m("writes the report", "        draft = report.draft\n",
          "        draft = report.draft\n        __import__('pathlib').Path(__import__('tempfile').mkdtemp(), 'report').write_text('')\n",
          "it_is_pure", "the store keeps the text"),
        m("raises where it is empty", "        draft = report.draft\n", "        draft = report.draft\n        draft.summary[0]\n",
          "an_empty_report_is_a_skeleton", "raised IndexError", "also an empty one"),
        m("hides that it is empty", ', report.mark or ""', "", "an_empty_report_is_a_skeleton", "print `report.mark`"),
        m("returns bytes", 'return "\\n\\n".join(lines) + "\\n"', 'return "\\n\\n".join(lines).encode()',
          "claims_and_code_are_printed", "returned bytes"),
        m("evaluates", 'return "\\n\\n".join(lines) + "\\n"',
          "return __import__('jinja2').Environment(autoescape=True).from_string(\"\\n\\n\".join(lines)).render()",
          "hostile_text_is_data", "hand texts to a template as values"),
        m("formats", 'return "\\n\\n".join(lines) + "\\n"', 'return ("\\n\\n".join(lines) + "{end}").format(end="")',
          "hostile_text_is_data", "the renderer raised"),
    ],
}  # fmt: skip
