"""A plant nursery with few rows, whose columns are not called by what people say; what they ask, and what SQL says to that."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema nursery;
create table nursery.growers (id int primary key, full_name text not null, craft text, hired_on date);
insert into nursery.growers values (1, 'Ona Tamm', 'grafting', '2009-04-01'), (2, 'Rui Salgado', 'grafting', '2015-08-01'),
  (3, 'Edda Kok', 'propagation', '2019-02-01'), (4, 'Milo Brandt', 'pruning', '2021-09-01');
create table nursery.plants (id int primary key, name text not null, plant_family text, crate text, height_cm numeric,
  mass_t numeric, price numeric, stars numeric, planted int, needs_permit boolean, about text);
insert into nursery.plants select i, 'Specimen ' || chr(64 + i), (array['Rosales', 'Fagales', 'Pinales'])[1 + i % 3],
  'crate ' || (1 + i % 7), 20 + (i * 37) % 230, 0.1 * ((i * 7) % 23), 15 + (i * 11) % 60, 2 + (i * 13) % 30 / 10.0,
  1931 + (i * 29) % 90, i % 4 = 0, 'It stands in a clay pot behind the long glasshouse, out of the wind'
from generate_series(1, 20) i;
create table nursery.waterings (id int primary key, plant_id int references nursery.plants,
  grower_id int references nursery.growers, scheduled_for date, litres numeric, prep_minutes int, remark text);
insert into nursery.waterings select i, 1 + (i * i) % 20, 1 + i % 4, date '2023-01-10' + i * 11, (i * 3) % 17,
  4 + (i * 7) % 61, 'The hose was led around the potting shed and the tap left dripping'
from generate_series(1, 90) i;
analyze;
"""

_OF_PLANTS = "waterings w join plants p on p.id = w.plant_id"

NUMBERS: Mapping[str, str] = {
    # a date on which something is to happen dates its rows
    "How many waterings were there in 2024?":
        "select count(*) from waterings where scheduled_for between '2024-01-01' and '2024-12-31'",
    # of few rows, a short text that comes again is a category, and tells of what refers to it
    "How many growers in grafting?": "select count(*) from growers where craft = 'grafting'",
    "How many waterings in grafting?":
        "select count(*) from waterings w join growers g on g.id = w.grower_id where craft = 'grafting'",
    "How many plants need a permit?": "select count(*) from plants where needs_permit",
    "How many plants are worth more than 40?": "select count(*) from plants where price > 40",
    "the best rated plant": "select name, stars from plants order by stars desc limit 1",
    "the worst rated plant": "select name, stars from plants order by stars limit 1",
    "the highest rated plant": "select name, stars from plants order by stars desc limit 1",
    "the newest plant": "select name, planted from plants order by planted desc limit 1",
    "the heaviest plant": "select name, mass_t from plants order by mass_t desc limit 1",
    "the heaviest piece of plant": "select name, mass_t from plants order by mass_t desc limit 1",
    "the largest plant": "select name, height_cm from plants order by height_cm desc limit 1",
    "Which family of plant was watered most?":
        f"select plant_family, count(*) from {_OF_PLANTS} group by 1 order by 2 desc limit 1",
    "the cheapest plant": "select name, price from plants order by price limit 1",
}  # fmt: skip
"""Questions, with the number, or the one row with its number, that they ask for."""

NO_NUMBER = ("Which plant is the cheapest per day?", "Which grower complained most?", "the best plant")
"""Questions that no row tells."""
