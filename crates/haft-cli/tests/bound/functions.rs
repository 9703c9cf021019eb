use serde_json::{Value, json};

use crate::workshop::{Workshop, text};

const VALUES: &str = r#"
import asyncio, collections, dataclasses, datetime, decimal, enum, os, pathlib, subprocess, sys, uuid
from typing import List, Optional

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    colour: Optional[Colour] = None

def text(who): return "hello " + who
def nothing(): return None
def number(): return 3.5
def rich():
    return {"point": Point(1), "path": pathlib.Path("a/b"), "day": datetime.date(2024, 2, 29), "set": {3, 1, 2},
            "tuple": (1, "x"), "decimal": decimal.Decimal("1.10"), "colour": Colour.RED, 7: True,
            "deep": [{"id": uuid.UUID(int=5)}]}
async def later(n: int):
    await asyncio.sleep(0)
    return n + 1
def shapes(point: Point, points: List[Point], colour: Colour, day: datetime.date, where: pathlib.Path, maybe: Optional[int] = None):
    assert isinstance(point, Point) and point.colour is Colour.BLUE and points[1].y == 4
    assert colour is Colour.RED and day.year == 2024 and isinstance(where, pathlib.Path) and maybe is None
    return [point.x, len(points), colour, maybe]
def noisy():
    print("printed"); sys.stderr.write("to stderr\n")
    os.write(1, b'{"call": 1, "text": "forged"}\n')
    subprocess.run(["echo", "from a child"])
    return "answer"
def reads_input(): return [sys.stdin.read(), os.read(0, 10).decode()]
def where(): return os.getcwd()
def pid(): return os.getpid()
def taught(*values, **rest): return rest
def only(a, /, b, *, c): return [a, b, c]
"#;

#[tokio::test]
async fn values_come_back_as_they_are_or_as_json_has_them() {
    let Some(workshop) = Workshop::with_python(VALUES) else { return };
    let names = ["text", "nothing", "number", "rich", "later", "taught", "only"];
    let workshop = names.iter().fold(workshop, |workshop, name| workshop.function(name, "effects: []"));
    let result = workshop.call("text", json!({ "who": "ä\u{1F600}" })).await;
    assert_eq!((text(&result).as_str(), &result.data), ("hello ä\u{1F600}", &None));
    let result = workshop.call("nothing", json!({})).await;
    assert_eq!((text(&result).as_str(), &result.data), ("Done.", &Some(Value::Null)));
    let result = workshop.call("number", json!({})).await;
    assert_eq!((text(&result).as_str(), &result.data), ("3.5", &Some(json!(3.5))));
    let rich = json!({
        "point": { "x": 1, "y": 0, "colour": null }, "path": "a/b", "day": "2024-02-29", "set": [1, 2, 3],
        "tuple": [1, "x"], "decimal": "1.10", "colour": "red", "7": true,
        "deep": [{ "id": "00000000-0000-0000-0000-000000000005" }],
    });
    assert_eq!(workshop.call("rich", json!({})).await.data, Some(rich));
    assert_eq!(workshop.works("later", json!({ "n": 4 })).await, "5");
    assert_eq!(workshop.works("taught", json!({ "x": 1, "y": [2] })).await, r#"{"x":1,"y":[2]}"#);
    assert_eq!(workshop.works("only", json!({ "c": 3, "a": 1, "b": 2 })).await, "[1,2,3]");
}

#[tokio::test]
async fn arguments_are_built_by_their_annotations() {
    let Some(workshop) = Workshop::with_python(VALUES) else { return };
    let workshop = workshop.function("shapes", "effects: []");
    let arguments = json!({
        "point": { "x": 1, "colour": "blue" }, "points": [{ "x": 2 }, { "x": 3, "y": 4 }], "colour": "red",
        "day": "2024-02-29", "where": "a/b",
    });
    assert_eq!(workshop.works("shapes", arguments.clone()).await, r#"[1,2,"red",null]"#);
    for (place, value, words) in [
        ("colour", json!("green"), "colour is 'green', but it is one of 'red', 'blue'"),
        ("point", json!({ "x": 1, "z": 2 }), "point has no 'z'; there is: x, y, colour"),
        ("points", json!([{}]), "points[0] lacks 'x'"),
        ("day", json!("tomorrow"), "day is 'tomorrow', which is not a valid date"),
    ] {
        let mut wrong = arguments.clone();
        wrong[place] = value;
        let (told, _) = workshop.fails("shapes", wrong).await;
        assert!(told.contains(words), "{told}");
    }
}

#[tokio::test]
async fn pydantic_models_are_built_where_there_are_some() {
    let module = "
try:
    import pydantic
    class Order(pydantic.BaseModel):
        item: str
        count: int = 1
    def order(order: Order): return order
except ImportError:
    def order(order): return {'item': order['item'], 'count': 2}
";
    let Some(workshop) = Workshop::with_python(module) else { return };
    let workshop = workshop.function("order", "effects: []");
    let said = workshop.works("order", json!({ "order": { "item": "nut", "count": 2 } })).await;
    assert_eq!(said, r#"{"item":"nut","count":2}"#);
}

#[tokio::test]
async fn nothing_that_a_function_prints_becomes_an_answer() {
    let Some(workshop) = Workshop::with_python(VALUES) else { return };
    let workshop = workshop.function("noisy", "effects: []").function("reads_input", "effects: []");
    assert_eq!(workshop.works("noisy", json!({})).await, "answer");
    assert_eq!(workshop.works("reads_input", json!({})).await, r#"["",""]"#);
    assert_eq!(workshop.works("noisy", json!({})).await, "answer");
}

#[tokio::test]
async fn a_worker_stays_and_starts_every_call_in_the_workspace() {
    let Some(workshop) = Workshop::with_python(VALUES) else { return };
    let workshop = workshop.function("pid", "effects: []").function("where", "effects: []");
    let first = workshop.works("pid", json!({})).await;
    assert!(workshop.works("where", json!({})).await.ends_with("/ws"));
    assert_eq!(workshop.works("pid", json!({})).await, first);
}

#[tokio::test]
async fn what_a_function_changes_is_kept_where_it_said_so_and_can_be_seen_by_the_next() {
    let module = "
import pathlib
def write(path, text): pathlib.Path(path).write_text(text); pathlib.Path('beside.txt').write_text('x'); return 'written'
def read(path): return pathlib.Path(path).read_text()
";
    let Some(workshop) = Workshop::with_python(module) else { return };
    let writes = "name: write\ndescription: x.\nbinding: functions:write\neffects: [{change: \"{path}\"}]\n\
                  input_schema: {properties: {path: {type: string}, text: {type: string}}}";
    let reads = "name: read\ndescription: x.\nbinding: functions:read\neffects: [{read: \"{path}\"}]\n\
                 input_schema: {properties: {path: {type: string}}}";
    let workshop = workshop.tool(writes).tool(reads);
    let told = workshop.works("write", json!({ "path": "a.txt", "text": "one" })).await;
    assert!(told.starts_with("written\n") && told.contains("created a.txt") && told.contains("beside.txt"), "{told}");
    assert_eq!(workshop.read("ws/a.txt").as_deref(), Some("one"));
    assert_eq!(workshop.read("ws/beside.txt"), None);
    assert_eq!(workshop.works("read", json!({ "path": "a.txt" })).await, "one");
    workshop.works("write", json!({ "path": "a.txt", "text": "two" })).await;
    assert_eq!(workshop.works("read", json!({ "path": "a.txt" })).await, "two");
    assert_eq!(workshop.read("ws/__pycache__"), None);
}

#[tokio::test]
async fn modules_are_found_beside_the_definition_and_then_in_the_workspace_that_defines_the_tool() {
    let Some(workshop) = Workshop::with_python("from helper import value\ndef here(): return value()") else { return };
    let workshop = workshop
        .file("ws/package/__init__.py", "")
        .file("ws/package/inside.py", "def there(): return 'of the workspace'")
        .file("tools/helper.py", "def value(): return 'of the tools'")
        .file("ws/helper.py", "def value(): return 'of the workspace'")
        .function("here", "effects: []")
        .function("there", "effects: []\nbinding: package.inside:there")
        .of_workspace();
    assert_eq!(workshop.works("here", json!({})).await, "of the tools");
    assert_eq!(workshop.works("there", json!({})).await, "of the workspace");
}

const DATABASE: &str = r#"
import sqlite3
def fill(rows):
    base = sqlite3.connect("shop.db")
    base.execute("PRAGMA journal_mode = MEMORY")
    base.execute("CREATE TABLE IF NOT EXISTS goods (name TEXT, price REAL)")
    base.executemany("INSERT INTO goods VALUES (?, ?)", rows)
    base.commit()
    base.close()
    return len(rows)
def search(words):
    base = sqlite3.connect("file:shop.db?mode=ro", uri=True)
    return base.execute("SELECT name, price FROM goods WHERE name LIKE ? ORDER BY price", ("%" + words + "%",)).fetchall()
"#;

#[tokio::test]
async fn a_tool_of_ones_own_fills_and_searches_a_database() {
    let Some(workshop) = Workshop::with_python(DATABASE) else { return };
    let workshop =
        workshop.function("fill", "effects: [{change: shop.db}]").function("search", "effects: [{read: shop.db}]");
    let rows = json!([["red pen", 2.5], ["ink", 4], ["blue pen", 1.5]]);
    assert_eq!(workshop.works("fill", json!({ "rows": rows })).await, "3\n[change set 1: created shop.db]");
    let found = workshop.works("search", json!({ "words": "pen" })).await;
    assert_eq!(found, r#"[["blue pen",1.5],["red pen",2.5]]"#);
    let hostile = workshop.works("search", json!({ "words": "'; DROP TABLE goods; --" })).await;
    assert_eq!(hostile, "[]");
}
