"""Tables of a ferry line as somebody may have them, and questions that people put to them, each with what SQL says."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema ferries;
set search_path = ferries;
create table countries (id int primary key, name text not null);
create table towns (id int primary key, name text not null, country_id int not null references countries);
create table customers (id int primary key, first_name text not null, last_name text not null,
  town_id int not null references towns, active smallint not null, registered_on date not null);
create table captains (id int primary key, first_name text not null, last_name text not null, hire_date date not null);
create table harbours (id int primary key, name text not null, depth_m numeric not null, town_id int references towns);
create table ships (id int primary key, name text not null, about text not null, length_m int not null, price numeric not null,
  built_year int not null);
create table crossings (id int primary key, ship_id int not null references ships, captain_id int not null references captains,
  from_harbour_id int not null references harbours, to_harbour_id int not null references harbours,
  crossing_date date not null, duration_minutes int not null, cancelled smallint not null);
create table bookings (id int primary key, customer_id int not null references customers,
  crossing_id int not null references crossings, booking_date date not null, billing_country text not null,
  freight numeric not null);
create table booking_lines (booking_id int references bookings, ticket_kind text, unit_price numeric not null,
  quantity int not null, discount numeric, primary key (booking_id, ticket_kind));
insert into countries values (1, 'Norway'), (2, 'Estonia'), (3, 'Denmark');
insert into towns select i, (array['Moss', 'Tartu', 'Skagen', 'Horten', 'Narva', 'Aarhus'])[i], 1 + (i - 1) % 3
from generate_series(1, 6) i;
insert into customers select i, (array['Ada', 'Boris', 'Cleo', 'Dana', 'Emil'])[1 + i % 5],
  (array['Falk', 'Holt', 'Krug', 'Marsh', 'Palmer', 'Quill'])[1 + i % 6], 1 + i % 6, (i % 7 <> 0)::int,
  date '2021-01-03' + i * 20
from generate_series(1, 60) i;
insert into captains values (1, 'Ines', 'Vance', '2009-05-01'), (2, 'Otto', 'Moro', '2014-02-11'),
  (3, 'Una', 'Reed', '2014-09-30');
insert into harbours select i, (array['North Pier', 'Old Quay', 'Salt Dock', 'West Mole'])[i], 5 + i * 1.5, 1 + i % 4
from generate_series(1, 4) i;
insert into ships select i, (array['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm'])[i],
  'It carries cars, lorries and people over the sound.',
  60 + i * 17 % 50, 1000000 + i * 7 % 5 * 250000, 1990 + i * 6 from generate_series(1, 5) i;
insert into crossings select i, 1 + i % 5, 1 + (i * i) % 3, 1 + i % 4, 1 + (i + 1 + i % 3) % 4, date '2023-01-01' + i * 2,
  20 + (i * 17) % 110, (i % 11 = 0)::int from generate_series(1, 300) i;
insert into bookings select i, 1 + (i * 7) % 60, 1 + (i * 13) % 300, date '2023-01-01' + i * 2,
  (array['Norway', 'Estonia', 'Denmark', 'Finland'])[1 + i % 4], (i * 37) % 90 from generate_series(1, 320) i;
insert into booking_lines select b, k, p, 1 + (b + p) % 3, case when b % 5 = 0 then 0.1 when b % 3 = 0 then 0 end
from generate_series(1, 320) b, (values ('adult', 30), ('child', 12), ('car', 55)) v (k, p) where (b + p) % 4 <> 0;
analyze;
"""

_PAID = "sum(l.unit_price * l.quantity * (1 - coalesce(l.discount, 0)))"
_LINES = "booking_lines l join bookings b on b.id = l.booking_id join customers c on c.id = b.customer_id"
_FROM_TOWNS = "customers c join towns w on w.id = c.town_id join countries n on n.id = w.country_id"

NUMBERS: Mapping[str, str] = {
    # what other tables tell, one step away and several
    "How many customers are from Estonia?": f"select count(*) from {_FROM_TOWNS} where n.name = 'Estonia'",
    "How many customers live in Skagen?": f"select count(*) from {_FROM_TOWNS} where w.name = 'Skagen'",
    "Which country has the most customers?":
        f"select n.name, count(*) from {_FROM_TOWNS} group by 1 order by 2 desc fetch first 1 rows with ties",
    "How many bookings did customers from Norway make?":
        f"select count(*) from bookings b join {_FROM_TOWNS} on c.id = b.customer_id where n.name = 'Norway'",
    # what lines of a bill come to
    "What is the total revenue by ticket kind?": f"select l.ticket_kind, {_PAID} from booking_lines l group by 1",
    "How much did Ada Falk spend?": f"select {_PAID} from {_LINES} where c.first_name = 'Ada' and c.last_name = 'Falk'",
    "What was the total revenue in 2024?": f"select {_PAID} from {_LINES} where extract(year from b.booking_date) = 2024",
    "Which customer spent the most?":
        f"select c.first_name || ' ' || c.last_name, {_PAID} from {_LINES} group by 1"
        " order by 2 desc fetch first 1 rows with ties",
    "How many units were sold by ticket kind?": "select ticket_kind, sum(quantity) from booking_lines group by 1",
    # a name that rows of two tables share
    "How many bookings by customer?":
        "select c.first_name || ' ' || c.last_name, count(*) from bookings b join customers c on c.id = b.customer_id group by 1",
    "Which captain made the most crossings?":
        "select p.first_name || ' ' || p.last_name, count(*) from crossings x join captains p on p.id = x.captain_id"
        " group by 1 order by 2 desc fetch first 1 rows with ties",
    "average duration of crossings by ship":
        "select s.name, avg(duration_minutes) from crossings x join ships s on s.id = x.ship_id group by 1",
    # units and comparisons
    "How many crossings were longer than 90 minutes?": "select count(*) from crossings where duration_minutes > 90",
    "How many crossings lasted less than 1.5 hours?": "select count(*) from crossings where duration_minutes < 90",
    "How many crossings lasted longer than an hour?": "select count(*) from crossings where duration_minutes > 60",
    "How many ships are longer than 0.08 km?": "select count(*) from ships where length_m > 80",
    "How many ships cost more than 1500000 dollars?": "select count(*) from ships where price > 1500000",
    "What is the longest ship?": "select name, length_m from ships order by 2 desc limit 1",
    # dates, flags, directions
    "How many bookings were placed in 2023?": "select count(*) from bookings where extract(year from booking_date) = 2023",
    "How many bookings were billed to Finland?": "select count(*) from bookings where billing_country = 'Finland'",
    "How many crossings are cancelled?": "select count(*) from crossings where cancelled = 1",
    "How many customers are active?": "select count(*) from customers where active = 1",
    "How many crossings from Old Quay to Salt Dock?":
        "select count(*) from crossings where from_harbour_id = 2 and to_harbour_id = 3",
    "How many bookings had a freight over 50?": "select count(*) from bookings where freight > 50",
}  # fmt: skip

NO_NUMBER = (
    "How many ships are longer than 90 minutes?",
    "How many ships are heavier than 100?",
    "How many customers are from Atlantis?",
    "Which ship sold the most?",
    "How many crossings were repainted?",
    "How many harbours were used?",
    "How many bookings by captains from Norway?",
    "What is the total discount of lorries?",
)
