"""One SELECT as a query about one of its tables: joins become paths, aggregates numbers, conditions conditions.

It can be written in several ways (about one table or another); those that keep the exact number of rows come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from quarry.schema.algebra import Query
from tools.number_conversion import (
    Json,
    Unwritable,
    arithmetic,
    bare,
    conjuncts,
    is_aggregated,
    is_measured,
    literal,
    number,
    own_columns,
    period_of,
    ranked,
    without_truths,
)
from tools.spider_database import Column, Database, Join, Table

_OPERATORS = {exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FUNCTIONS = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}


Nested = Callable[[Database, exp.Expression], Iterator["Written"]]


@dataclass(frozen=True)
class Written:
    """A query, and which of its columns are the selected ones. `shows_keys`: it has others, which identify groups."""

    query: Json
    places: tuple[int, ...]

    def column(self, place: int) -> str:
        """The name of one of its columns of groups."""
        groups = self.query.get("group", [])
        if place < len(groups):
            return str(groups[place])
        aggregate = self.query["aggregate"][place - len(groups)]
        return str(aggregate["name"] if isinstance(aggregate, dict) else aggregate)

    @property
    def shows_keys(self) -> bool:
        return len(self.query.get("group", ())) + len(self.query.get("aggregate", ())) > len(set(self.places))


@dataclass
class Node:
    """A table in FROM, by how it is reached from the one that a query is about."""

    alias: str
    table: Table
    links: tuple[str, ...] = ()
    is_many: bool = False
    children: list[tuple[Join, Node]] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        yield self
        for _, child in self.children:
            yield from child.all()


class Select:
    """A SELECT over tables of a database. `nested` writes the statements in it."""

    def __init__(self, database: Database, tree: exp.Select, nested: Nested) -> None:
        self.nested = nested
        self.database = database
        self.tree = tree
        self.tables: dict[str, Table] = {}
        self.joins: list[tuple[exp.Column, exp.Column]] = []
        self.conditions: list[exp.Expression] = []
        source = tree.args.get("from_") or tree.args.get("from")
        if source is None:
            raise Unwritable("no table")
        self._table(source.this)
        for join in tree.args.get("joins") or ():
            if join.side or join.args.get("using"):
                raise Unwritable("an outer join")
            self._table(join.this)
            if join.args.get("on"):
                self._conjuncts(join.args["on"])
        if tree.args.get("where"):
            self._conjuncts(tree.args["where"].this)
        self.aliases = {each.alias.lower(): each.this for each in tree.expressions if isinstance(each, exp.Alias)}
        self.columns = [column for each in tree.expressions for column in self._expanded(each)]

    def _expanded(self, selected: exp.Expression) -> Iterator[exp.Expression]:
        """The selected expressions, with a star expanded to every column."""
        alias = (
            selected.table.lower() if isinstance(selected, exp.Column) and isinstance(selected.this, exp.Star) else ""
        )
        if not alias and not isinstance(selected, exp.Star):
            yield selected.this.unnest() if isinstance(selected, exp.Alias) else selected.unnest()
            return
        for each in [alias] if alias else self.tables:
            for column in self.tables[each].columns.values():
                yield exp.column(column.name, table=each)

    def _table(self, table: exp.Expression) -> None:
        if not isinstance(table, exp.Table):
            raise Unwritable("a subquery as a table")
        table_of_name = self.database.tables.get(table.name.lower())
        if table_of_name is None:
            raise Unwritable("an unknown table")
        self.tables[table.alias_or_name.lower()] = table_of_name

    def _conjuncts(self, condition: exp.Expression) -> None:
        if isinstance(condition, exp.Paren):
            self._conjuncts(condition.this)
        elif isinstance(condition, exp.And):
            self._conjuncts(condition.left)
            self._conjuncts(condition.right)
        elif (
            isinstance(condition, exp.EQ)
            and isinstance(condition.left, exp.Column)
            and isinstance(condition.right, exp.Column)
            and self.owner(condition.left) != self.owner(condition.right)
        ):
            self.joins.append((condition.left, condition.right))
        else:
            self.conditions.append(condition)

    def owner(self, column: exp.Column) -> str:
        """The alias of a column's table."""
        alias = str(column.table).lower()
        if alias in self.tables:
            return alias
        owners = [each for each, table in self.tables.items() if column.name.lower() in table.columns]
        if alias or not owners:
            raise Unwritable("a column of an outer query" if alias else "an unknown column")
        return owners[0]

    def column(self, column: exp.Column) -> Column:
        """The database's column."""
        match = self.tables[self.owner(column)].columns.get(column.name.lower())
        if match is None:
            raise Unwritable("an unknown column")
        return match

    def identifying_places(self) -> list[int]:
        """The positions of the selected columns that identify a row: the only one, or the key of a table."""
        selected = self.columns
        if len(selected) == 1:
            return [0]
        return [
            place for place, each in enumerate(selected) if isinstance(each, exp.Column) and self.column(each).is_unique
        ]

    def ways(self, extra: tuple[int, str, Json] | None = None, *, distinct: bool = False) -> Iterator[Written]:
        """The ways to write it, about each of its tables."""
        has_way, why = False, Unwritable("no table leads to all others")
        ways: list[tuple[int, Node]] = []
        for alias in self.tables:
            root = self._tree(alias)
            if root is not None:
                ways.append((sum(node.is_many for node in root.all()), root))
        for _, root in sorted(ways, key=lambda way: way[0]):
            for by_key in (False, True):
                try:
                    yield _Way(self, root, by_key, extra, distinct).written()
                    has_way = True
                except Unwritable as error:
                    why = error if not by_key else why
        if not has_way:
            raise why

    def _tree(self, base: str) -> Node | None:
        """How the other tables are reached from one, those over references first."""
        root = Node(base, self.tables[base])
        reached = {base: root}
        while len(reached) < len(self.tables):
            steps = [step for alias in reached for step in self._steps(alias, reached)]
            if not steps:
                return None
            join, here, there = min(steps, key=lambda step: step[0].is_many)
            node = Node(
                there, self.tables[there], (*reached[here].links, join.name), reached[here].is_many or join.is_many
            )
            reached[here].children.append((join, node))
            reached[there] = node
        return root

    def _steps(self, here: str, reached: dict[str, Node]) -> Iterator[tuple[Join, str, str]]:
        """The joins from one table to tables that are not reached yet."""
        for there, table in self.tables.items():
            pairs = self._pairs(here, there) if there not in reached else []
            if pairs:
                mine, theirs = zip(*pairs, strict=True)
                yield self.database.join(self.tables[here].name, mine, table.name, theirs), here, there

    def _pairs(self, here: str, there: str) -> list[tuple[str, str]]:
        """The columns that join two tables."""
        pairs = [
            (one.name, two.name)
            for join in self.joins
            for one, two in (join, join[::-1])
            if self.owner(one) == here and self.owner(two) == there
        ]
        return list(dict.fromkeys(pairs))

    def apart(self, root: Node) -> list[exp.Expression]:
        """Joins outside the tree of tables: conditions on two fields."""
        parents = {child.alias: node.alias for node in root.all() for _, child in node.children}
        return [
            exp.EQ(this=one, expression=two)
            for one, two in self.joins
            if parents.get(self.owner(one)) != self.owner(two) and parents.get(self.owner(two)) != self.owner(one)
        ]


class _Way:
    """A SELECT as a query about one of its tables. `by_key`: each group is a row of that table."""

    def __init__(
        self, select: Select, root: Node, by_key: bool, extra: tuple[int, str, Json] | None, distinct: bool
    ) -> None:
        self.select = select
        self.tree = select.tree
        self.root = root
        self.nodes = {node.alias: node for node in root.all()}
        self.by_key = by_key
        self.extra = extra
        self.group: list[exp.Expression] = self.tree.args["group"].expressions if self.tree.args.get("group") else []
        self.made: dict[str, Json] = {}
        """The aggregates that are more than a function of a field, by their names."""
        self.is_distinct = distinct or bool(self.tree.args.get("distinct"))

    def written(self) -> Written:
        columns = self.select.columns
        is_ranked = any(isinstance(each, exp.Window) for each in columns)
        aggregates = is_ranked or any(is_aggregated(each) for each in columns)
        query: Json = {"source": self.root.table.source}
        where = self._where(self.root, [*self.select.conditions, *self.select.apart(self.root)])
        if self.extra is not None:
            place, op, other = self.extra
            where.append({"field": self.path(columns[place]), "op": op, "value": other})
        if where:
            query["where"] = where
        if self.by_key:
            return self._rows_by_key(query)
        if not self.group and not aggregates and not self.is_distinct:
            query["select"] = [self.path(each) for each in columns]
            return Written(self._ordered(query), tuple(range(len(columns))))
        return self._grouped(query)

    def _grouped(self, query: Json) -> Written:
        columns = self.select.columns
        plain = [each for each in columns if not is_measured(each)]
        if (
            plain
            and not self.group
            and not self.is_distinct
            and not any(isinstance(each, exp.Window) for each in columns)
        ):
            raise Unwritable("an aggregate beside a column")
        groups = list(dict.fromkeys(self.path(each) for each in plain))
        if not all(self.path(each) in groups for each in self.group):
            identity = [self.path(each) for each in self.group]
            groups = [*groups, *(each for each in identity if each not in groups)]
        aggregates = list(dict.fromkeys(self.aggregate(each) for each in columns if is_measured(each)))
        if groups:
            query["group"] = groups
        if aggregates:
            query["aggregate"] = [self.made.get(each, each) for each in aggregates]
        if self.tree.args.get("having"):
            query["having"] = [self.condition(each, None) for each in conjuncts(self.tree.args["having"].this)]
        places = [
            len(groups) + aggregates.index(self.aggregate(each)) if is_measured(each) else groups.index(self.path(each))
            for each in columns
        ]
        query = self._ordered(query)
        columns_of_select = [self.made[each] for each in self.made if each not in aggregates]
        return Written(
            {**query, "aggregate": [*query.get("aggregate", ()), *columns_of_select]} if columns_of_select else query,
            tuple(places),
        )

    def _rows_by_key(self, query: Json) -> Written:
        """Groups by the key of a table as rows of that table, with aggregates over their related rows."""
        if not self.group or not all(isinstance(each, exp.Column) for each in self.group):
            raise Unwritable("no groups")
        if not any(
            self.select.owner(each) == self.root.alias and self.select.column(each).is_unique for each in self.group
        ):
            raise Unwritable("no groups by a key")
        if any(self.nodes[self.select.owner(each)].is_many for each in self.group):
            raise Unwritable("groups of related rows")
        if self.tree.args.get("having"):
            query.setdefault("where", []).extend(
                self.condition(each, None) for each in conjuncts(self.tree.args["having"].this)
            )
        query["select"] = [
            self.aggregate(each) if _function(each) else self.path(each) for each in self.tree.expressions
        ]
        return Written(self._ordered(query), tuple(range(len(query["select"]))))

    def _ordered(self, query: Json) -> Json:
        order = self.tree.args.get("order")
        if order and (query.get("group") or not query.get("aggregate")):
            query["order"] = [
                {"by": self.name(each.this), "direction": "desc" if each.args.get("desc") else "asc"}
                for each in order.expressions
            ]
        limit = self.tree.args.get("limit")
        if limit:
            query["limit"] = int(limit.expression.this)
        return query

    def name(self, value: exp.Expression) -> str:
        """The name of a value in `order` and `having`."""
        if isinstance(value, exp.Column) and not value.table and value.name.lower() in self.select.aliases:
            value = self.select.aliases[value.name.lower()]
        return self.aggregate(value) if is_aggregated(value) else self.path(value)

    def path(self, column: exp.Expression) -> str:
        """The path of a column, or arithmetic of columns."""
        if isinstance(column, exp.Case):
            return self._case(column)
        if not isinstance(column, exp.Column):
            return arithmetic(column, self.path)
        node = self.nodes[self.select.owner(column)]
        if node.is_many:
            raise Unwritable("a column of related rows")
        return ".".join([*node.links, self.select.column(column).field])

    def _case(self, value: exp.Case) -> str:
        """A predicate that is declared for which of two values a row has."""
        if value.this is not None or len(value.args["ifs"]) != 1:
            raise Unwritable("a case of several values")
        query = {"source": self.root.table.source, "where": [self._of_rows(value.args["ifs"][0].this)]}
        predicates, conditions = self.root.table.predicates, Query.model_validate(query).where
        same = next((name for name, each in predicates.items() if each == conditions), None)
        name = same or f"case_{len(predicates) + 1}"
        predicates[name] = conditions
        return name

    def aggregate(self, value: exp.Expression) -> str:
        """The name of an aggregate; for groups by key, of one over the related rows."""
        function = _function(value)
        if function is None or not isinstance(value.this, exp.Column | exp.Star | exp.Distinct):
            return self._computed(value)
        column, distinct = value.this, ""
        if isinstance(column, exp.Distinct):
            column, distinct = column.expressions[0], "_distinct"
        if isinstance(column, exp.Star) and not self.by_key:
            return "count"
        if self.by_key:
            return self._over_related(f"{function}{distinct}", column)
        if function == "count" and not distinct and isinstance(column, exp.Column) and self._is_everywhere(column):
            return "count"
        return f"{function}{distinct}({self.path(column)})"

    def _computed(self, value: exp.Expression) -> str:
        """The name that an aggregate of more than one field is given."""
        if self.by_key:
            raise Unwritable("arithmetic over related rows")
        write = ranked if isinstance(value, exp.Window) else number
        aggregate = write(value, self.path, self._of_rows)
        assert isinstance(aggregate, dict)
        same = next(
            (name for name, each in self.made.items() if {**each, "name": ""} == {**aggregate, "name": ""}), None
        )
        name = same or f"number {len(self.made) + 1}"
        self.made[name] = {"name": name, **aggregate}
        return name

    def _of_rows(self, condition: exp.Expression) -> Json:
        """A condition that only some of the rows of an aggregate meet."""
        if any(self.nodes[self.select.owner(column)].is_many for column in own_columns(condition)):
            raise Unwritable("a condition on related rows")
        return self.condition(condition, self.root)

    def _is_everywhere(self, column: exp.Column) -> bool:
        """Whether every row has a value."""
        return None not in self.select.column(column).values and not self.nodes[self.select.owner(column)].is_many

    def _over_related(self, function: str, column: exp.Expression) -> str:
        many = [node for node in self.root.all() if node.is_many]
        chain = max(many, key=lambda node: len(node.links), default=None)
        if chain is None or any(chain.links[: len(node.links)] != node.links for node in many):
            raise Unwritable("a product of related rows")
        if isinstance(column, exp.Star):
            return f"{function}({'.'.join(chain.links)})"
        if not isinstance(column, exp.Column):
            raise Unwritable("arithmetic")
        node = self.nodes[self.select.owner(column)]
        if not node.is_many:
            if function != "count":
                raise Unwritable("an aggregate over a group's own column")
            return f"{function}({'.'.join(chain.links)})"
        return f"{function}({'.'.join([*node.links, self.select.column(column).field])})"

    def _where(self, node: Node, conditions: list[exp.Expression]) -> list[Json]:
        """The conditions on a table and on those it refers to, then on each kind of its related rows."""
        own = [each for each in conditions if not any(self._is_under(child, each) for child in self._many(node))]
        parts = [self.condition(each, node) for each in own]
        parts += [{"exists": self._relative(node, child)} for child in self._missing(node)]
        for child in self._many(node):
            inner = [each for each in conditions if self._is_under(child, each)]
            if self.by_key and inner:
                raise Unwritable("conditions on what is computed over related rows")
            where = self._where(child, inner)
            parts.append({"exists": self._relative(node, child), **({"where": where} if where else {})})
        return parts

    def _many(self, node: Node) -> list[Node]:
        """The nearest related rows."""
        nodes: list[Node] = []
        for join, child in node.children:
            nodes += [child] if join.is_many else self._many(child)
        return nodes

    def _missing(self, node: Node) -> list[Node]:
        """The references that may be empty; a join leaves out rows without them."""
        nodes: list[Node] = []
        for join, child in node.children:
            if not join.is_many:
                nodes += [*([] if join.is_total else [child]), *self._missing(child)]
        return nodes

    def _is_under(self, node: Node, condition: exp.Expression) -> bool:
        """Whether a condition uses columns of related rows."""
        aliases = {each.alias for each in node.all()}
        owners = {self.select.owner(column) for column in own_columns(condition)}
        if owners & aliases and not owners <= aliases:
            raise Unwritable("a condition on rows and related rows together")
        return bool(owners & aliases)

    @staticmethod
    def _relative(node: Node, child: Node) -> str:
        return ".".join(child.links[len(node.links) :])

    def condition(self, condition: exp.Expression, node: Node | None) -> Json:
        """A condition; `node` is the table of the rows it is about, None for groups."""
        match condition:
            case exp.Paren():
                return self.condition(condition.this, node)
            case exp.And():
                return {"all_of": [self.condition(each, node) for each in (condition.left, condition.right)]}
            case exp.Or():
                return {"any_of": [self.condition(each, node) for each in (condition.left, condition.right)]}
            case exp.Not():
                return self._denied(self.condition(condition.this, node), condition.this, node)
            case exp.Between():
                values = [literal(condition.args["low"]), literal(condition.args["high"])]
                return {"field": self._named(condition.this, node), "op": "between", "values": values}
            case exp.Like():
                return self._like(condition, node)
            case exp.In() | exp.Exists():
                return self._in(condition, node) if condition.key == "in" else self._correlated(condition.this, node)
            case exp.Is() if isinstance(condition.expression, exp.Null):
                return {"field": self._named(condition.this, node), "op": "is_null"}
        op = _OPERATORS.get(type(condition))
        if op is None:
            raise Unwritable(f"a condition {type(condition).__name__}")
        return self._compared(condition.left, op, condition.right, node)

    def _correlated(self, tree: exp.Expression, node: Node | None) -> Json:
        """That there is a row which a column joins: that column is among those of such rows."""
        inner = tree.copy()
        own = {each.alias_or_name.lower() for each in inner.find_all(exp.Table)}
        for each in conjuncts(inner.args["where"].this) if inner.args.get("where") else ():
            sides = [each.left, each.right] if isinstance(each, exp.EQ) else []
            outer = [one for one in sides if isinstance(one, exp.Column) and one.table and one.table.lower() not in own]
            if len(outer) == 1:
                [mine] = [one for one in sides if one is not outer[0]]
                inner.set("expressions", [mine.copy()])
                each.replace(exp.true())
                inner.set("where", without_truths(inner))
                return {"field": self._named(outer[0], node), "op": "=", "value": self._nested(inner)}
        raise Unwritable("a condition Exists")

    def _compared(self, left: exp.Expression, op: str, right: exp.Expression, node: Node | None) -> Json:
        left, right = (self._pushed(bare(each)) for each in (left, right))
        if isinstance(left, exp.Left | exp.Right) and isinstance(right, exp.Literal) and op == "=":
            end = "starts_with" if isinstance(left, exp.Left) else "ends_with"
            return {"field": self._named(bare(left.this), node), "op": end, "value": str(right.this)}
        if (day := period_of(left)) is not None and isinstance(right, exp.Literal):
            return self._of_period(self._named(day, node), op, str(right.this), day)
        if isinstance(left, exp.Literal | exp.Subquery) and not isinstance(right, exp.Literal | exp.Subquery):
            left, op, right = right, _FLIPPED.get(op, op), left
        name = self._named(left, node)
        if isinstance(right, exp.Subquery):
            return self._compared_with(name, op, self._nested_value(right.this, op), left)
        if isinstance(right, exp.Column) and not (right.this.quoted and self._is_text(right)):
            return {"field": name, "op": op, "value": {"field": self._named(right, node)}}
        if isinstance(right, exp.Binary | exp.Extract | exp.CurrentTimestamp | exp.CurrentDate):
            return {"field": name, "op": op, "value": {"field": self._named(right, node)}}
        value = literal(right)
        if isinstance(left, exp.TimeToStr | exp.Extract) and isinstance(value, str) and value.isdecimal():
            value = int(value)
        if isinstance(value, str) and not value.strip():
            return {"field": name, "op": "is_null" if op == "=" else "not_null"}
        return self._compared_with(name, op, value, left)

    @staticmethod
    def _pushed(value: exp.Expression) -> exp.Expression:
        """A query with arithmetic on its result as a query for that: `(select avg(a) from t) * 2`."""
        sides = [bare(each) for each in (value.left, value.right)] if isinstance(value, exp.Binary) else []
        nested = next((each for each in sides if isinstance(each, exp.Subquery)), None)
        if nested is None or not any(isinstance(each, exp.Literal) for each in sides):
            return value
        tree = nested.copy()
        [inner] = tree.this.expressions
        parts = [exp.paren(inner.unalias()) if isinstance(each, exp.Subquery) else each.copy() for each in sides]
        tree.this.set("expressions", [type(value)(this=parts[0], expression=parts[1])])
        return tree

    def _of_period(self, name: str, op: str, value: str, day: exp.Expression) -> Json:
        """A date, or the text of one, compared with a period."""
        if isinstance(day, exp.Column) and self.select.column(day).kind == "text":
            if op != "=":
                raise Unwritable("a part of a text")
            return {"field": name, "op": "starts_with", "value": value}
        return {"field": name, "op": op, "value": value}

    def _compared_with(self, name: str, op: str, value: str | float | Json, column: exp.Expression) -> Json:
        condition = {"field": name, "op": op, "value": value}
        return self._without_nulls(condition, name, column) if op == "!=" else condition

    def _is_text(self, column: exp.Column) -> bool:
        """Whether an apparent column is a text in double quotes."""
        try:
            self.select.column(column)
        except Unwritable:
            return True
        return False

    def _without_nulls(self, condition: Json, name: str, column: exp.Expression) -> Json:
        """In SQL, `!=` and NOT leave out rows without a value."""
        if not isinstance(column, exp.Column) or None not in self.select.column(column).values:
            return condition
        return {"all_of": [condition, {"field": name, "op": "not_null"}]}

    def _denied(self, denied: Json, condition: exp.Expression, node: Node | None) -> Json:
        if "op" in denied and denied["op"] == "is_null":
            return {**denied, "op": "not_null"}
        if "op" not in denied:
            return {"not": denied}
        inner = {**denied, "op": "!="} if denied["op"] == "=" else {"not": denied}
        return self._without_nulls(inner, denied["field"], condition.this)

    def _like(self, condition: exp.Expression, node: Node | None) -> Json:
        pattern = str(literal(condition.expression))
        inner = pattern.strip("%")
        column = bare(condition.this)
        is_date = isinstance(column, exp.Column) and self.select.column(column).kind in ("date", "datetime")
        if is_date and pattern == f"{inner}%" and "_" not in inner:
            return {"field": self._named(column, node), "op": "=", "value": inner.rstrip("-")}
        if "%" in inner or "_" in inner:
            raise Unwritable("a pattern")
        name = self._named(condition.this, node)
        if inner == pattern:
            return {"field": name, "op": "=", "value": inner}
        if pattern == f"{inner}%":
            return {"field": name, "op": "starts_with", "value": inner}
        if not (pattern.startswith("%") and pattern.endswith("%")):
            raise Unwritable("a pattern")
        return {"field": name, "op": "contains", "value": inner}

    def _in(self, condition: exp.Expression, node: Node | None) -> Json:
        name = self._named(condition.this, node)
        if condition.args.get("query"):
            return {"field": name, "op": "=", "value": self._nested(condition.args["query"])}
        return {"field": name, "op": "=", "values": [literal(each) for each in condition.expressions]}

    def _nested(self, tree: exp.Expression) -> Json:
        return next(self.select.nested(self.select.database, tree.unnest())).query

    def _nested_value(self, tree: exp.Expression, op: str) -> Json:
        """A query that returns one value, if the SQL guarantees that."""
        query = self._nested(tree)
        return query if op in ("=", "!=") or "aggregate" in query else {**query, "limit": 1}

    def _named(self, value: exp.Expression, node: Node | None) -> str:
        """The name of a column from the point of view of its condition."""
        if node is None:
            return self.name(value)
        if not isinstance(value, exp.Column):
            return arithmetic(value, lambda column: self._named(column, node))
        owner = self.nodes[self.select.owner(value)]
        return ".".join([*owner.links[len(node.links) :], self.select.column(value).field])


def _function(value: exp.Expression) -> str | None:
    return _FUNCTIONS.get(type(value))
