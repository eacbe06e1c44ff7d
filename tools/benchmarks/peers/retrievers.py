# mypy: ignore-errors
"""Runs in the environment of requirements.txt, not in the project's: the peers' hybrid retrievers on the input from stdin.

In: `url` of an empty database, `chunks` of [key, text, vector], `queries` of [id, text, vector], and the number of keys wanted.
Out: for each retriever the keys found for each query, best first, and milliseconds of CPU of the server and of this process.

Each has its HNSW index, its word index, and halves of 50 chunks instead of its defaults of 4 and 2; otherwise it is used as
shipped and documented.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator

import psycopg
from clock import server_ms
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion, weighted_sum_ranking
from langchain_postgres.v2.indexes import HNSWIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore as LlamaStore

HALF = 50
HNSW = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 100, "hnsw_dist_method": "vector_cosine_ops"}

Retriever = Callable[[str, list[float]], list[str]]


class Given(Embeddings):
    """Precomputed vectors, by text."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[text]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]


def langchain(given: dict) -> Iterator[tuple[str, Retriever]]:
    engine = PGEngine.from_connection_string(given["url"].replace("postgresql:", "postgresql+psycopg:"))
    embeddings = Given({text: vector for _, text, vector in given["queries"]})
    keys, texts, vectors = zip(*given["chunks"], strict=True)
    stored = HybridSearchConfig(tsv_column="content_tsv")
    engine.init_vectorstore_table("langchain", len(vectors[0]), hybrid_search_config=stored)
    store = PGVectorStore.create_sync(engine, embeddings, "langchain", hybrid_search_config=stored)
    store.add_embeddings(list(texts), list(vectors), [{"key": key} for key in keys])
    store.apply_vector_index(HNSWIndex())
    store.apply_hybrid_search_index()
    analyze(given["url"])
    for name, fusion in (("weighted sum", weighted_sum_ranking), ("reciprocal ranks", reciprocal_rank_fusion)):

        def retrieve(text: str, vector: list[float], fusion: Callable = fusion) -> list[str]:
            config = HybridSearchConfig(
                "content_tsv", fts_query=text, fusion_function=fusion, primary_top_k=HALF, secondary_top_k=HALF
            )
            found = store.similarity_search(text, k=HALF, hybrid_search_config=config)
            return [document.metadata["key"] for document in found]

        yield f"LangChain, {name}", retrieve


class OneMode(BaseRetriever):
    """The results of a store in one mode, to fuse with those of others."""

    def __init__(self, find: Callable[[str], list[NodeWithScore]]) -> None:
        super().__init__()
        self.find = find

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.find(query_bundle.query_str)


def llama_index(given: dict) -> Iterator[tuple[str, Retriever]]:
    store = LlamaStore(
        connection_string=given["url"].replace("postgresql:", "postgresql+psycopg2:"),
        async_connection_string=given["url"].replace("postgresql:", "postgresql+asyncpg:"),
        table_name="llama_index",
        hybrid_search=True,
        embed_dim=len(given["chunks"][0][2]),
        hnsw_kwargs=dict(HNSW),
    )
    store.add(
        [
            TextNode(id_=str(number), text=text, embedding=vector, metadata={"key": key})
            for number, (key, text, vector) in enumerate(given["chunks"])
        ]
    )
    analyze(given["url"])
    vectors = {text: vector for _, text, vector in given["queries"]}

    def find(mode: VectorStoreQueryMode, text: str) -> list[NodeWithScore]:
        query = VectorStoreQuery(
            query_embedding=vectors[text], query_str=text, similarity_top_k=HALF, sparse_top_k=HALF, mode=mode
        )
        found = store.query(query)
        return [
            NodeWithScore(node=node, score=score) for node, score in zip(found.nodes, found.similarities, strict=True)
        ]

    def keys(found: list[NodeWithScore]) -> list[str]:
        return [each.node.metadata["key"] for each in found]

    yield "LlamaIndex, hybrid", lambda text, _: keys(find(VectorStoreQueryMode.HYBRID, text))
    modes = [VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.SPARSE]
    for mode in ("relative_score", "reciprocal_rerank"):
        fusion = QueryFusionRetriever(
            [OneMode(lambda text, half=half: find(half, text)) for half in modes],
            llm=MockLLM(),
            mode=mode,
            similarity_top_k=HALF,
            num_queries=1,
            use_async=False,
        )
        yield f"LlamaIndex, fusion by {mode}", lambda text, _, fusion=fusion: keys(fusion.retrieve(text))


def analyze(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def measured(retrieve: Retriever, given: dict) -> dict:
    """Runs each query twice and measures the second time."""
    found, server, client = {}, [], []
    with psycopg.connect(given["url"], autocommit=True) as connection:
        for id, text, vector in given["queries"]:
            retrieve(text, vector)
            before, started = server_ms(connection), time.process_time()
            keys = retrieve(text, vector)
            client.append((time.process_time() - started) * 1000)
            server.append(server_ms(connection) - before)
            found[id] = list(dict.fromkeys(keys))[: given["depth"]]
    return {"found": found, "server_ms": server, "client_ms": client}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(
        json.dumps(
            {name: measured(retrieve, asked) for peer in (langchain, llama_index) for name, retrieve in peer(asked)}
        )
    )
