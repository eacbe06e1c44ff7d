"""A made-up table that nobody serves."""

from __future__ import annotations

from quarry.retrieval.facets import Facet, Related, SearchTable

SCHEMA = """
create table houses (
  id text primary key, style text, rooms int, built int, price bigint, sold date, colours text[] not null default '{}',
  town text, heated boolean, title text, listed boolean not null default true
);
create table tenants (house_id text not null, name text, trade text, since date);
insert into houses values
  ('h0', 'barn', 2, 1999, 100, '2000-06-01', '{red}', 'Aston', true, 'Old Mill', true),
  ('h1', 'villa', 5, 2001, 300, '2000-12-01', '{red,white}', 'Aston', false, 'Mill House', true),
  ('h2', 'villa', 3, 2001, 300, '2001-06-15', '{}', 'Crane, Northland', null, null, true),
  ('h3', null, null, null, null, null, '{}', null, null, null, true),
  ('h4', 'villa', 9, 2001, 900, '2001-06-16', '{}', 'Aston', true, 'Hidden', false);
insert into tenants values
  ('h1', 'Ann Oak', 'baker', null), ('h1', 'Bo Elm', 'cook', null), ('h2', 'Ann Oak', 'cook', null);
"""

HOUSES = SearchTable(
    "houses",
    nouns=("house",),
    date="sold",
    where="t.listed",
    related=(Related("tenant", "tenants", "r.house_id = t.id", "house_id"),),
    facets=(
        Facet("style", "value", "style", "style", "styles"),
        Facet("rooms", "number", "rooms", "number of rooms", "rooms", wording="with {} rooms"),
        Facet("built", "year", "built", "year", "years", wording="built {}"),
        Facet("price", "money", "price", "price", "prices", currency="EUR", wording="for {}"),
        Facet("sold", "date", "sold", "sale", "sales", wording="sold {}"),
        Facet("colour", "array", "colours", "colour", "colours", wording="painted {}"),
        Facet("town", "place", "town", "town", "towns", wording="in {}"),
        Facet("heated", "boolean", "heated", "heating", "heating", wording="heated"),
        Facet("title", "title", "title", "title", "titles", wording="called {}"),
        Facet("tenant", "name", "name", "tenant", "tenants", wording="let to {}", related="tenant"),
        Facet("trade", "value", "trade", "trade", "trades", wording="let to a {}", related="tenant"),
        Facet("since", "date", "since", "tenancy", "tenancies", wording="let {}", related="tenant"),
    ),
)
