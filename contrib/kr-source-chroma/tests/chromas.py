"""Collections for the tests: filled by ChromaDB itself, in a process of its own, and what a server of it answers."""

import json

import httpx

RECORDS = {
    "orders-1": ("The order service is deployed by merging to main; the release job builds the image.", {"title": "Order service", "source": "https://handbook.example/orders"}),
    "oncall-1": ("Hand-over of the pager is on Monday at nine.", {"title": "On call", "page": 3, "source": "oncall.pdf"}),
    "legacy-1": ("Rates of the old shop were kept in a spreadsheet.", None),
}  # fmt: skip
KNOWN = "How is the order service deployed?"
UNKNOWN = "What is the airspeed of a swallow?"
FILL = """
import json, sys
import chromadb
place, records = sys.argv[1], json.loads(sys.argv[2])
settings = chromadb.Settings(anonymized_telemetry=False)
if place.startswith("http"):
    client = chromadb.HttpClient(host="127.0.0.1", port=int(place.rpartition(":")[2]), settings=settings)
else:
    client = chromadb.PersistentClient(path=place, settings=settings)
made = client.create_collection("handbook", embedding_function=None)
made.add(
    ids=list(records),
    documents=[text for text, _ in records.values()],
    metadatas=[metadata for _, metadata in records.values()],
    embeddings=[[float(place == other) for other in range(len(records))] for place in range(len(records))],
)
client.create_collection("empty", embedding_function=None)
"""


class Answers:
    """What a Chroma server answers, as one of 1.5 has been seen to; `RECORDS` are in the collection `handbook`.

    Args:
        records: the documents of it.
    """

    def __init__(self, records=None):
        self.records = RECORDS if records is None else records
        self.asked = []

    def __call__(self, request):
        path = request.url.path.partition("/databases/default_database")[2]
        self.asked.append(request)
        if path == "/collections":
            return httpx.Response(200, json=[{"name": "handbook", "id": "7"}, {"name": "empty", "id": "8"}])
        if path == "/collections/handbook":
            return httpx.Response(200, json={"id": "7", "name": "handbook", "dimension": len(self.records)})
        if path == "/collections/empty":
            return httpx.Response(200, json={"id": "8", "name": "empty", "dimension": None})
        body = json.loads(request.content or b"{}")
        if path == "/collections/7/get":
            where = body["where_document"]
            words = [one["$contains"] for one in where.get("$or", [where])]
            return self._columns(
                [one for one, (text, _) in self.records.items() if any(word in text for word in words)],
                nested=False,
            )
        if path == "/collections/7/query":
            (vector,) = body["query_embeddings"]
            if len(vector) != len(self.records):
                said = {
                    "error": "InvalidArgumentError",
                    "message": "Collection expecting embedding with another dimension",
                }
                return httpx.Response(400, json=said)
            near = sorted(self.records, key=lambda one: -vector[list(self.records).index(one)])
            return self._columns(near[: body["n_results"]], nested=True)
        if path == "/collections/8/get":
            return self._columns([], nested=False)
        return httpx.Response(
            404, json={"error": "NotFoundError", "message": "Collection [x] does not exist"}
        )

    def _columns(self, ids, *, nested):
        columns = {
            "ids": ids,
            "documents": [self.records[one][0] for one in ids],
            "metadatas": [self.records[one][1] for one in ids],
        }
        return httpx.Response(
            200, json={key: [column] if nested else column for key, column in columns.items()}
        )
