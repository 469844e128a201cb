"""A shared project measured: look-ups among a million entries, one budget asked by 32 clients, eight writers of one record.

`shared_database.py [ENTRIES]` starts a PostgreSQL of its own, which syncs to the disk as usual, and prints JSON. Loading a million
entries takes some minutes.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.postgres_server import PostgresServer  # type: ignore[import-not-found]  # tests are not a package

from kr_core.knowledge.ids import entry_id, report_path
from kr_core.knowledge.matching import match_keys
from kr_core.knowledge.topic_lookup import TopicLookup
from kr_core.model import Entry, Event, ResearchQuery
from kr_core.protocols.lookup import LookupRules
from kr_plugins.postgres.database import Database
from kr_plugins.postgres.shared_journal import SharedJournal
from kr_plugins.postgres.shared_store import SharedStore, key_numbers

DAY = date(2026, 2, 5)
TOPICS_OF_ONE = 500
"""Entries of one framework."""
LOOKUPS = 400
CLIENTS, WRITERS = 32, 8
NOUNS = "timeout retry proxy header cookie session stream upload redirect cache pool certificate token route schema".split()
VERBS = "set read close verify limit log mock encode validate share reset resume".split()
PLACES = "client server request response test".split()


def entry(framework: str, number: int) -> Entry:
    """The entry of a framework with this number; topics of one framework share words, and tags."""
    noun, verb = NOUNS[number % 15], VERBS[number // 15 % 12]
    topic = f"{verb} {noun} of {PLACES[number // 180 % 5]} {number}"
    return Entry(
        id=entry_id(framework, topic), framework=framework, framework_version="1.4", topic=topic, tags=(noun, verb),
        path=report_path(framework, topic), created=DAY, last_accessed=DAY,
    )  # fmt: skip


def load(server: PostgresServer, database: Database, entries: int) -> None:
    """Fill a project with entries and small reports."""
    import psycopg

    keys = [match_keys(entry("f", number)) for number in range(TOPICS_OF_ONE)]
    columns = "project, id, framework, framework_version, topic, tags, path, created, last_accessed, status, folded, words, tag_keys, keys"
    with psycopg.connect(server.dsn(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET search_path = kr")
        with cursor.copy(f"COPY entries ({columns}) FROM STDIN") as copy:
            for framework in (f"lib{n}" for n in range(entries // TOPICS_OF_ONE)):
                for number in range(TOPICS_OF_ONE):
                    one, found_by = (
                        entry(framework, number),
                        key_numbers(database.project, framework, keys[number]),
                    )
                    copy.write_row(
                        (database.project, one.id, framework, "1.4", one.topic, list(one.tags), one.path, DAY, DAY, "fresh",
                         framework, found_by.words, found_by.tags, found_by.all)
                    )  # fmt: skip
        cursor.execute(
            "INSERT INTO reports SELECT project, path, '# ' || topic || repeat(' text', 40), '{}' FROM entries"
        )
        cursor.execute("UPDATE knowledge SET entries = %s", (entries,))
        cursor.execute("VACUUM ANALYZE entries")
        cursor.execute("VACUUM ANALYZE reports")


def lookups(database: Database, entries: int) -> dict[str, object]:
    """Find an entry as a repeated question does: candidates, the best of them, its report."""
    store, chance, rules = SharedStore(database), random.Random(1), LookupRules(today=DAY)
    took, found, sizes = [], 0, []
    for n in range(LOOKUPS + 20):
        wanted = entry(f"lib{chance.randrange(entries // TOPICS_OF_ONE)}", chance.randrange(TOPICS_OF_ONE))
        query = ResearchQuery(
            framework=wanted.framework,
            framework_version="1.4",
            topic=wanted.topic,
            tags=wanted.tags,
            question="?",
        )
        began = time.perf_counter()
        candidates = store.candidates(query).entries
        best = TopicLookup().find(query, candidates, rules)
        report = None if best is None else store.read(best.entry)
        if n >= 20:
            took.append((time.perf_counter() - began) * 1000)
            found += best is not None and best.entry.id == wanted.id and report is not None
            sizes.append(len(candidates))
    took.sort()
    return {
        "entries": entries, "p50_ms": round(statistics.median(took), 2), "p95_ms": round(took[int(len(took) * 0.95)], 2),
        "found": f"{found} of {LOOKUPS}", "candidates": statistics.median(sizes),
    }  # fmt: skip


def spend(dsn: str, client: int, each: int, limit: int) -> int:
    """One client: how many calls it was given."""
    journal = SharedJournal(Database(dsn, "kr", "budget", "bench"))
    given = sum(journal.spend("s", "story", f"{client}-{n}", limit) for n in range(each))
    journal.close()
    return given


def budget(server: PostgresServer) -> dict[str, object]:
    """Processes that ask for more than there is."""
    each, limit = 40, 640
    spend(server.dsn(), 99, 0, limit)
    began = time.perf_counter()
    with get_context("spawn").Pool(CLIENTS) as pool:
        given = sum(pool.starmap(spend, [(server.dsn(), client, each, limit) for client in range(CLIENTS)]))
    seconds = time.perf_counter() - began
    journal = SharedJournal(Database(server.dsn(), "kr", "budget", "bench"))
    spent = journal.spent("s", "story")
    journal.close()
    return {
        "clients": CLIENTS, "asked": CLIENTS * each, "limit": limit, "given": given, "spent": spent,
        "seconds_with_start": round(seconds, 1),
    }  # fmt: skip


def write(journal: SharedJournal, writer: int, count: int, batch: int) -> None:
    """One writer: events in batches, each waited for."""
    for n in range(0, count, batch):
        journal.append([Event("bench.wrote", f"run-{writer}", {"n": n + k}) for k in range(batch)]).result()


def events(server: PostgresServer, batch: int, count: int) -> dict[str, object]:
    """Writers on two machines, four threads each."""
    machines = [SharedJournal(Database(server.dsn(), "kr", f"events-{batch}", f"m{n}")) for n in range(2)]
    began = time.perf_counter()
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda writer: write(machines[writer % 2], writer, count, batch), range(WRITERS)))
    seconds = time.perf_counter() - began
    flaws, last = len(machines[0].verify()), machines[0].read(WRITERS * count - 1, 10)
    for one in machines:
        one.close()
    return {
        "writers": WRITERS, "batch": batch, "events_per_second": round(WRITERS * count / seconds),
        "all_there": [number for number, _ in last] == [WRITERS * count], "flaws": flaws,
    }  # fmt: skip


def main(entries: int) -> None:
    """Measure, and print what came of it."""
    server = PostgresServer(
        "fsync=on\nautovacuum=on\nshared_buffers=1GB\nmax_connections=120\nmax_wal_size=4GB"
    )
    try:
        database = Database(server.dsn(), "kr", "large", "bench")
        print(json.dumps({"budget": budget(server)}), flush=True)
        print(json.dumps({"events": [events(server, 1, 300), events(server, 100, 4000)]}), flush=True)
        began = time.perf_counter()
        load(server, database, entries)
        print(json.dumps({"load_seconds": round(time.perf_counter() - began)}), flush=True)
        print(json.dumps({"lookups": lookups(database, entries)}), flush=True)
        database.close()
    finally:
        server.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
