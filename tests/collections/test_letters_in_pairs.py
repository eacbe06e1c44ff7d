"""Chinese, Japanese, Korean and Thai texts are found by words, in any language of the collection, and marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from starlette.testclient import TestClient

from tests.collections.support import owner
from tests.collections.test_search import fill, search
from tests.conftest import client_of, clone_database
from tests.ontology.conftest import Connection, add_task, connection, found

__all__ = ["connection"]

TOPICS: dict[str, tuple[str, Sequence[str]]] = {
    "japanese": (
        "{}の申請は総務部が受け付けます。期限は月末です。",
        ("育児休業", "介護休業", "年末調整", "駐車場", "住民税", "iPadの貸出", "B型肝炎の検査"),
    ),
    "chinese": ("请在系统中提交{}的申请，由经理审批。", ("年假", "病假", "停车位", "社会保险", "出差住宿", "会议室")),
    "korean": ("{}의 신청은 사내 포털에서 할 수 있습니다.", ("연차 휴가", "육아휴직", "주차장", "건강검진", "재택근무", "명함")),
    "thai": ("พนักงานสามารถขอ{}ได้ที่ระบบภายใน", ("ลาพักร้อน", "ลาคลอด", "ที่จอดรถ", "นามบัตร", "ห้องประชุม", "ประกันสังคม")),
}  # fmt: skip
TABLES = "create table notes (id text primary key, text text not null);" + "".join(
    f"insert into notes values ('{topic}', '{form.format(topic)}');"
    for form, topics in TOPICS.values()
    for topic in topics
)
DECLARED = '[collections.notes]\nsource = "notes"\ntitle = "text"\ntext = ["text"]\nlanguage = "{}"\n'
ASKED = [
    *((topic, topic) for _, topics in TOPICS.values() for topic in topics),
    ("税", "住民税"), ("iPad 貸出", "iPadの貸出"), ("ipadの貸出", "iPadの貸出"), ("肝炎", "B型肝炎の検査"),
    ("Ｂ型", "B型肝炎の検査"),
    ("停车", "停车位"), ("휴가를", "연차 휴가"), ("주차장은 어디에 있나요", "주차장"), ("ขอลาคลอด", "ลาคลอด"),
    ("จอดรถ", "ที่จอดรถ"),
    ("年末調整の書類はどこに出しますか", "年末調整"), ('"育児休業の申請"', "育児休業"),
]  # fmt: skip


@pytest.fixture(scope="module", params=["simple", "english"])
def client(
    request: pytest.FixtureRequest, server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, TABLES)
        fill(url, DECLARED.format(request.param), tmp_path_factory.mktemp("notes"))
        with client_of(url) as client:
            yield client


def test_a_word_finds_its_rows_first_and_is_marked(client: TestClient) -> None:
    for asked, wanted in ASKED:
        first, *_ = search(client, q=asked)["results"]
        assert first["id"] == wanted, asked
        assert "<mark>" in first["snippet"], asked
        marked = re.findall("<mark>(.*?)</mark>", first["snippet"])
        assert all(len(each) <= len(wanted) + 4 for each in marked), (asked, marked)
    counted = client.post("/query", json={"source": "notes", "text": "育児休業", "aggregate": "count"})
    assert counted.json()["rows"] == [[1]]
    excluded = search(client, q="休業 -介護")["results"]
    assert [each["id"] for each in excluded][:1] == ["育児休業"]
    assert "介護休業" not in [each["id"] for each in excluded]


@pytest.mark.parametrize(("text", "paired"), [
    ("The tide turns", "The tide turns"), ("Größe", "Größe"), ("名刺", "名刺"), ("育児休業", "育児 児休 休業"),
    ("B型肝炎", "B 型肝 肝炎"), ("ＰＣを使う", "PC を使 使う"), ("ﾊﾝｺ", "ハン ンコ"), ("가나다 라", "가나 나다 라"),
    ("ที่จอด", "ที่จ จอ อด"),
    ("東京、大阪。", "東京 、 大阪 。"), ("税", "税"), ("2026年度", "2026 年度"),
])  # fmt: skip
def test_letters_of_scripts_without_spaces_are_paired(connection: Connection, text: str, paired: str) -> None:
    [[made]] = connection.execute("select paired_letters(%s)", [text]).fetchall()
    assert made.split() == paired.split()


def test_the_letters_of_a_very_long_run_are_paired_in_time_that_grows_with_it(connection: Connection) -> None:
    connection.execute("set statement_timeout = '5s'")
    [[length]] = connection.execute("select length(english_words(repeat('申請書を書く', 20000)))").fetchall()
    assert length == len({*"申請書を書く"}) + len(("申請", "請書", "書を", "を書", "書く", "く申"))


def test_things_of_a_workspace_are_found_so_too(connection: Connection) -> None:
    add_task(connection, "own", "年末調整の書類", '{"note": "ประกันสังคม"}')
    add_task(connection, "other", "駐車場の申請", '{"note": "นามบัตร"}')
    for asked in ("年末調整", "書類", "ประกัน"):
        first, *_ = found(connection, asked)
        assert first.id == "own", asked
