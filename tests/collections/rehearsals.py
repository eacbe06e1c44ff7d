"""Rooms to rehearse in, and who books them: tables as they are, what people ask of them, and what SQL says to that."""

from __future__ import annotations

NOTE = "The band brings its own chairs and would like to be let in a little early"

SCHEMA = f"""
create schema rehearsals;
create table rehearsals.rooms (id int primary key, name text not null, about text, quarter text, area_sqm numeric, seats int,
  hourly_rent numeric(6,2), deposit numeric(6,2), heated boolean, in_service boolean, piano_available boolean, built int,
  opened_on date, equipment text[], prizes text[], supervisor text);
insert into rehearsals.rooms select i, 'Room ' || chr(64 + i),
  'Thick walls and patient neighbours, a kettle, and a view of the yard',
  (array['Docks','Old Town','Hill'])[1 + i % 3], 12 + (i * 17) % 60, 2 + (i * 5) % 9, 8 + (i * 7) % 23, 100 - i * 3,
  i % 3 <> 0, i % 5 <> 0, i % 2 = 0, 1880 + (i * 37) % 140, date '2019-02-01' + (i * 83) % 1900,
  case i % 4 when 0 then '{{}}' when 1 then '{{drums}}' else '{{drums,mixer}}' end::text[],
  case when i % 3 = 1 then '{{Quiet Prize}}' else '{{}}' end::text[],
  (array['Una Vale','Tom Reed'])[1 + i % 2]
from generate_series(1, 24) i;
create table rehearsals.bookings (id int primary key, room_id int references rehearsals.rooms, note text, booker text,
  hours_booked int, stars int, cancelled boolean, began_on date, guests_invited int);
insert into rehearsals.bookings select i, 1 + i % 24, '{NOTE}',
  (array['Ada Falk','Bo Lind','Cleo Marsh','Bo Lind'])[1 + i % 4], 1 + i % 6, 1 + (i * 3) % 5, i % 7 = 0,
  date '2024-01-03' + i * 4, (i * 7) % 30
from generate_series(1, 80) i;
create table rehearsals.notenhefte (id int primary key, bezeichnung text not null, beschreibung text, verlag text, zustand text,
  gebunden boolean, gewicht_kg numeric, erscheinungsjahr int, gekauft_am date);
insert into rehearsals.notenhefte select i, 'Heft ' || i, 'Stimmen einzeln gelegt, mit Bleistift bezeichnet und oft gespielt',
  (array['Amsel','Birke','Clara'])[1 + i % 3], (array['gut','lose'])[1 + i % 2], i % 4 = 0, 0.1 * ((i * 7) % 61),
  1801 + (i * 13) % 200, date '2001-05-01' + i * 60
from generate_series(1, 60) i;
analyze;
"""

NUMBERS = {
    "How many rooms were built before 1900?": "select count(*) from rooms where built < 1900",
    "How many unheated rooms are there?": "select count(*) from rooms where not heated",
    "How many rooms are not unheated?": "select count(*) from rooms where heated",
    "How many rooms are out of service?": "select count(*) from rooms where not in_service",
    "How many rooms have no piano?": "select count(*) from rooms where not piano_available",
    "How many rooms have got no equipment?": "select count(*) from rooms where equipment = '{}'",
    "How many rooms are larger than 40 square metres?": "select count(*) from rooms where area_sqm > 40",
    "How many rooms are smaller than 30 m²?": "select count(*) from rooms where area_sqm < 30",
    "How many rooms for 7 people are there?": "select count(*) from rooms where seats = 7",
    "How many bookings got 4 or 5 stars?": "select count(*) from bookings where stars in (4, 5)",
    "How many one-star bookings are there?": "select count(*) from bookings where stars = 1",
    "How many bookings were longer than 4 hours?": "select count(*) from bookings where hours_booked > 4",
    "the cheapest room": """select name, hourly_rent from rooms where hourly_rent = (select min(hourly_rent) from rooms)""",
    "the oldest room": "select name, built from rooms where built = (select min(built) from rooms)",
    "the newest room in the Docks": """select name, 1 from rooms where quarter = 'Docks' and opened_on =
        (select max(opened_on) from rooms where quarter = 'Docks')""",
    "How many bookings invited more than 20 guests?": "select count(*) from bookings where guests_invited > 20",
    "How many rooms are supervised by Una Vale?": "select count(*) from rooms where supervisor = 'Una Vale'",
    "Wie viele Hefte sind nicht gebunden?": "select count(*) from notenhefte where not gebunden",
    "Wie viele Hefte sind vor 1900 erschienen?": "select count(*) from notenhefte where erscheinungsjahr < 1900",
    "Wie viele Hefte wurden seit 2008 gekauft?": "select count(*) from notenhefte where gekauft_am >= '2008-01-01'",
    "Wie viele Hefte sind weder von Amsel noch von Birke?": "select count(*) from notenhefte where verlag = 'Clara'",
    "das schwerste Heft": "select bezeichnung, gewicht_kg from notenhefte order by gewicht_kg desc limit 1",
    "das älteste Heft von Birke": """select bezeichnung, erscheinungsjahr from notenhefte where verlag = 'Birke'
        order by erscheinungsjahr limit 1""",
    "Who made the most bookings?": "select booker, count(*) from bookings group by 1 order by 2 desc limit 1",
}
"""Questions, with the number, or the rows with their numbers, that they ask for. A row's day is no number: 1."""

ROWS = {
    "bookings with 5 stars": ("bookings", "stars = 5"),
    "bookings that were longer than 5 hours": ("bookings", "hours_booked > 5"),
    "rooms without a piano": ("rooms", "not piano_available"),
    "rooms that won the Quiet Prize": ("rooms", "prizes = '{Quiet Prize}'"),
    "unheated rooms in the Docks": ("rooms", "not heated and quarter = 'Docks'"),
}
"""Questions that ask for rows, with these."""
