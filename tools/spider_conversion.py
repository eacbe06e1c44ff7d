"""Converts Spider's gold SQL into queries mechanically: joins become paths, set operations become conditions.

A SELECT can be written in several ways (about one table or another); those that keep the exact number of rows come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from tools.spider_database import Column, Database, Join, Table

Json = dict[str, Any]

_OPERATORS = {exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FUNCTIONS = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}


class Unwritable(Exception):
    """The part of a SELECT that no query can express."""


@dataclass(frozen=True)
class Written:
    """A query, and which of its columns are the selected ones. `shows_keys`: it has others, which identify groups."""

    query: Json
    places: tuple[int, ...]

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


def written(database: Database, tree: exp.Expression) -> Iterator[Written]:
    """The ways to write a statement as a query. Raises Unwritable if there is none."""
    if isinstance(tree, exp.Select):
        yield from _Select(database, tree).ways()
        return
    if tree.args.get("order") or tree.args.get("limit"):
        raise Unwritable("order of a set operation")
    yield from _set_operation(database, tree)


def _set_operation(database: Database, tree: exp.Expression) -> Iterator[Written]:
    left, right = tree.this, tree.expression
    if not isinstance(left, exp.Select):
        raise Unwritable("several set operations")
    select = _Select(database, left)
    if isinstance(tree, exp.Union):
        yield from _united(database, select, right)
        return
    if not isinstance(tree, exp.Intersect | exp.Except):
        raise Unwritable(type(tree).__name__)
    op = "=" if isinstance(tree, exp.Intersect) else "!="
    places = select.identifying_places()
    if not places:
        raise Unwritable("a set operation over several columns")
    found = False
    for place in places:
        for other in written(database, _only(right, place)):
            for way in select.ways(extra=(place, op, other.query), distinct=True):
                found = True
                yield way
    if not found:
        raise Unwritable("a set operation")


def _united(database: Database, left: _Select, right: exp.Expression) -> Iterator[Written]:
    """A union within one table: either condition holds. For a column of two tables: its values that are in either."""
    if not isinstance(right, exp.Select):
        raise Unwritable("several set operations")
    other = _Select(database, right)
    for way in left.ways(distinct=True):
        for second in other.ways(distinct=True):
            one, two = way.query, second.query
            if _without_where(one) == _without_where(two) and not (one.get("having") or two.get("having")):
                either = {"any_of": [{"all_of": each.get("where", [])} for each in (one, two)]}
                if one.get("where") and two.get("where"):
                    yield replace(way, query={**one, "where": [either]})
                else:
                    yield replace(way, query=_without_where(one))
    raise Unwritable("a union of different tables")


def _without_where(query: Json) -> Json:
    return {key: value for key, value in query.items() if key != "where"}


def _only(tree: exp.Expression, place: int) -> exp.Expression:
    """The statement with only one of its columns."""
    tree = tree.copy()
    for select in [tree] if isinstance(tree, exp.Select) else [tree.this, tree.expression]:
        select.set("expressions", [select.expressions[place]])
    return tree


class _Select:
    def __init__(self, database: Database, tree: exp.Select) -> None:
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
        found = self.database.tables.get(table.name.lower())
        if found is None:
            raise Unwritable("an unknown table")
        self.tables[table.alias_or_name.lower()] = found

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
        named = [each for each, table in self.tables.items() if column.name.lower() in table.columns]
        if alias or not named:
            raise Unwritable("a column of an outer query" if alias else "an unknown column")
        return named[0]

    def column(self, column: exp.Column) -> Column:
        """The database's column."""
        found = self.tables[self.owner(column)].columns.get(column.name.lower())
        if found is None:
            raise Unwritable("an unknown column")
        return found

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
        found, why = False, Unwritable("no table leads to all others")
        ways: list[tuple[int, Node]] = []
        for alias in self.tables:
            root = self._tree(alias)
            if root is not None:
                ways.append((sum(node.is_many for node in root.all()), root))
        for _, root in sorted(ways, key=lambda way: way[0]):
            for by_key in (False, True):
                try:
                    yield _Way(self, root, by_key, extra, distinct).written()
                    found = True
                except Unwritable as error:
                    why = error if not by_key else why
        if not found:
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
        found = [
            (one.name, two.name)
            for join in self.joins
            for one, two in (join, join[::-1])
            if self.owner(one) == here and self.owner(two) == there
        ]
        return list(dict.fromkeys(found))

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
        self, select: _Select, root: Node, by_key: bool, extra: tuple[int, str, Json] | None, distinct: bool
    ) -> None:
        self.select = select
        self.tree = select.tree
        self.root = root
        self.nodes = {node.alias: node for node in root.all()}
        self.by_key = by_key
        self.extra = extra
        self.group: list[exp.Expression] = self.tree.args["group"].expressions if self.tree.args.get("group") else []
        self.is_distinct = distinct or bool(self.tree.args.get("distinct"))

    def written(self) -> Written:
        columns = self.select.columns
        aggregates = any(_function(each) for each in columns)
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
        plain = [each for each in columns if not _function(each)]
        if plain and not self.group and not self.is_distinct:
            raise Unwritable("an aggregate beside a column")
        groups = list(dict.fromkeys(self.path(each) for each in plain))
        if not all(self.path(each) in groups for each in self.group):
            identity = [self.path(each) for each in self.group]
            groups = [*groups, *(each for each in identity if each not in groups)]
        aggregates = list(dict.fromkeys(self.aggregate(each) for each in columns if _function(each)))
        if groups:
            query["group"] = groups
        if aggregates:
            query["aggregate"] = aggregates
        if self.tree.args.get("having"):
            query["having"] = [self.condition(each, None) for each in _conjuncts(self.tree.args["having"].this)]
        places = [
            len(groups) + aggregates.index(self.aggregate(each)) if _function(each) else groups.index(self.path(each))
            for each in columns
        ]
        return Written(self._ordered(query), tuple(places))

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
                self.condition(each, None) for each in _conjuncts(self.tree.args["having"].this)
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
        return self.aggregate(value) if _function(value) else self.path(value)

    def path(self, column: exp.Expression) -> str:
        """The path of a column."""
        if not isinstance(column, exp.Column):
            raise Unwritable("arithmetic" if isinstance(column, exp.Binary) else f"a {type(column).__name__}")
        node = self.nodes[self.select.owner(column)]
        if node.is_many:
            raise Unwritable("a column of related rows")
        return ".".join([*node.links, self.select.column(column).field])

    def aggregate(self, value: exp.Expression) -> str:
        """The name of an aggregate; for groups by key, of one over the related rows."""
        function = _function(value)
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
        found = [self.condition(each, node) for each in own]
        found += [{"exists": self._relative(node, child)} for child in self._missing(node)]
        for child in self._many(node):
            inner = [each for each in conditions if self._is_under(child, each)]
            if self.by_key and inner:
                raise Unwritable("conditions on what is computed over related rows")
            where = self._where(child, inner)
            found.append({"exists": self._relative(node, child), **({"where": where} if where else {})})
        return found

    def _many(self, node: Node) -> list[Node]:
        """The nearest related rows."""
        found: list[Node] = []
        for join, child in node.children:
            found += [child] if join.is_many else self._many(child)
        return found

    def _missing(self, node: Node) -> list[Node]:
        """The references that may be empty; a join leaves out rows without them."""
        found: list[Node] = []
        for join, child in node.children:
            if not join.is_many:
                found += [*([] if join.is_total else [child]), *self._missing(child)]
        return found

    def _is_under(self, node: Node, condition: exp.Expression) -> bool:
        """Whether a condition uses columns of related rows."""
        aliases = {each.alias for each in node.all()}
        named = {self.select.owner(column) for column in _own_columns(condition)}
        if named & aliases and not named <= aliases:
            raise Unwritable("a condition on rows and related rows together")
        return bool(named & aliases)

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
                values = [_literal(condition.args["low"]), _literal(condition.args["high"])]
                return {"field": self._named(condition.this, node), "op": "between", "values": values}
            case exp.Like():
                return self._like(condition, node)
            case exp.In():
                return self._in(condition, node)
            case exp.Is() if isinstance(condition.expression, exp.Null):
                return {"field": self._named(condition.this, node), "op": "is_null"}
        op = _OPERATORS.get(type(condition))
        if op is None:
            raise Unwritable(f"a condition {type(condition).__name__}")
        return self._compared(condition.left, op, condition.right, node)

    def _compared(self, left: exp.Expression, op: str, right: exp.Expression, node: Node | None) -> Json:
        left, right = (each.unnest() if isinstance(each, exp.Paren) else each for each in (left, right))
        if isinstance(left, exp.Literal | exp.Subquery) and not isinstance(right, exp.Literal | exp.Subquery):
            left, op, right = right, _FLIPPED.get(op, op), left
        name = self._named(left, node)
        if isinstance(right, exp.Subquery):
            return self._compared_with(name, op, self._nested_value(right.this, op), left)
        if isinstance(right, exp.Column) and not (right.this.quoted and self._is_text(right)):
            return {"field": name, "op": op, "value": {"field": self._named(right, node)}}
        value = _literal(right)
        if isinstance(value, str) and not value.strip():
            return {"field": name, "op": "is_null" if op == "=" else "not_null"}
        return self._compared_with(name, op, value, left)

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
        pattern = str(_literal(condition.expression))
        inner = pattern.strip("%")
        if "%" in inner or "_" in inner:
            raise Unwritable("a pattern")
        name = self._named(condition.this, node)
        if inner == pattern:
            return {"field": name, "op": "=", "value": inner}
        if not (pattern.startswith("%") and pattern.endswith("%")):
            raise Unwritable("a pattern")
        return {"field": name, "op": "contains", "value": inner}

    def _in(self, condition: exp.Expression, node: Node | None) -> Json:
        name = self._named(condition.this, node)
        if condition.args.get("query"):
            return {"field": name, "op": "=", "value": self._nested(condition.args["query"])}
        return {"field": name, "op": "=", "values": [_literal(each) for each in condition.expressions]}

    def _nested(self, tree: exp.Expression) -> Json:
        return next(written(self.select.database, tree.unnest())).query

    def _nested_value(self, tree: exp.Expression, op: str) -> Json:
        """A query that returns one value, if the SQL guarantees that."""
        query = self._nested(tree)
        return query if op in ("=", "!=") or "aggregate" in query else {**query, "limit": 1}

    def _named(self, value: exp.Expression, node: Node | None) -> str:
        """The name of a column from the point of view of its condition."""
        if node is None:
            return self.name(value)
        if not isinstance(value, exp.Column):
            raise Unwritable("arithmetic" if isinstance(value, exp.Binary) else f"a {type(value).__name__}")
        owner = self.nodes[self.select.owner(value)]
        return ".".join([*owner.links[len(node.links) :], self.select.column(value).field])


def _function(value: exp.Expression) -> str | None:
    return _FUNCTIONS.get(type(value))


def _own_columns(condition: exp.Expression) -> Iterator[exp.Column]:
    """The columns of a condition, except those in subqueries."""
    for node in condition.walk(prune=lambda each: isinstance(each, exp.Select | exp.Subquery)):
        if isinstance(node, exp.Column):
            yield node


def _conjuncts(condition: exp.Expression) -> list[exp.Expression]:
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return [condition]


def _literal(value: exp.Expression) -> str | int | float:
    if isinstance(value, exp.Neg):
        number = _literal(value.this)
        assert not isinstance(number, str)
        return -number
    if isinstance(value, exp.Column) and not value.table:
        return str(value.name)
    if not isinstance(value, exp.Literal):
        raise Unwritable("arithmetic" if isinstance(value, exp.Binary) else f"a {type(value).__name__}")
    if value.is_string:
        return str(value.this)
    return float(value.this) if "." in value.this else int(value.this)
