"""Tables of a ferry line as somebody may have them, and questions that people put to them, each with what SQL says."""

from __future__ import annotations

from collections.abc import Mapping

from tests.pairs import database_sql

SCHEMA = f"create schema ferries; set search_path = ferries; {database_sql('pinned_ferries')} analyze;"

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
