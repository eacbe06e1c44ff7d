"""A printing press on an island with guests and a paper shop: stays, what goes with them, what is bought, and what is owed."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMA = """
create schema press;
create table press.helpers (id int primary key, full_name text not null, job text);
insert into press.helpers values (1, 'Ona Tamm', 'printer'), (2, 'Rui Salgado', 'printer'), (3, 'Edda Kok', 'binder');
create table press.owners (id int primary key, full_name text not null);
insert into press.owners select i, (array['Ilse','Bram','Nuno','Tove'])[i] || ' Falk' from generate_series(1, 4) i;
create table press.guests (id int primary key, full_name text not null, country text, likes text);
insert into press.guests select i,
  (array['Ada','Milo','Saga','Lars'])[1 + i % 4] || ' ' || (array['Oriel','Venn','Lund'])[1 + i % 3],
  (array['Wales','Norway'])[1 + i % 2], case when i % 4 = 0 then 'Wants a lamp beside the bed and no feathers in the pillows' end
from generate_series(1, 12) i;
create table press.cabins (id int primary key, label text not null, owner_id int references press.owners,
  price_per_night numeric);
insert into press.cabins select i, 'Cabin ' || chr(64 + i), 1 + i % 4, 20 + 5 * i from generate_series(1, 6) i;
create table press.stays (id int primary key, guest_id int not null references press.guests, cabin_id int references press.cabins,
  checked_in_by int references press.helpers, booked_at timestamptz not null, arrives_on date not null, leaves_on date not null,
  status text not null);
insert into press.stays select i, 1 + (i * i) % 11, 1 + (i * i) % 5, 1 + (i * 5) % 7 % 3,
  timestamptz '2031-01-02 09:00+00' + i * interval '4 days',
  date '2031-02-01' + i * 5, date '2031-02-01' + i * 5 + 1 + (i * 3) % 11, (array['checked out','checked in','booked'])[1 + i % 3]
from generate_series(1, 70) i;
create table press.treats (id int primary key, name text not null, unit_price_cents int not null);
insert into press.treats select i, (array['Warm bath','Row boat','Late tea','Harp hour'])[i], 450 * i
from generate_series(1, 4) i;
create table press.stay_treats (stay_id int references press.stays, treat_id int references press.treats, qty int not null,
  primary key (stay_id, treat_id));
insert into press.stay_treats select i, 1 + least(i % 6, 2), 1 + i % 2 from generate_series(1, 50) i;
create table press.invoices (id int primary key, number text not null, stay_id int not null references press.stays,
  issued_on date not null, due_on date not null, paid_at timestamptz, amount numeric not null);
insert into press.invoices select i, 'N-' || 300 + i, i, date '2031-02-05' + i * 5, date '2031-02-19' + i * 5,
  case when i % 5 <> 0 then timestamptz '2031-02-10 10:00+00' + i * interval '5 days' end, 40 + (i * 17) % 90
from generate_series(1, 60) i;
create table press.papers (id int primary key, paper_name text not null, list_price numeric not null, stock_qty int not null,
  reorder_level int not null, rag_pct int not null, about text);
insert into press.papers select i, 'Sheet ' || chr(64 + i), 2 + i, (i * 7) % 5 * 10, 15, 10 * i,
  'It takes ink well and dries under a weight'
from generate_series(1, 9) i;
create table press.clients (id int primary key, company text not null, country text);
insert into press.clients select i, (array['Quill House','The Inkwell','Old Type','Folio Room'])[i],
  (array['Wales','Norway'])[1 + i % 2]
from generate_series(1, 4) i;
create table press.orders (id int primary key, order_no text not null unique, client_id int not null references press.clients,
  ordered_at timestamptz not null, deliver_by date, dispatched_at timestamptz, status text not null, comments text,
  postage numeric not null);
insert into press.orders select i, 'PO-' || 800 + i, 1 + (i * i) % 3, timestamptz '2031-01-03 09:00+00' + i * interval '3 days',
  date '2031-01-20' + i * 3,
  case when i % 4 <> 0 then timestamptz '2031-01-03 09:00+00' + (i * 3 + 1 + i % 6) * interval '1 day' end,
  case when i % 4 = 0 then 'new' when i % 3 = 0 then 'dispatched' else 'delivered' end,
  case when i % 9 = 0 then 'The gate sticks, so ring twice' end, 2 + i % 7
from generate_series(1, 60) i;
create table press.order_lines (id int primary key, order_id int not null references press.orders,
  paper_id int not null references press.papers, qty int not null, unit_price_cents int not null, discount_pct int not null);
insert into press.order_lines select i, 1 + (i * 7) % 60, 1 + (i * i) % 8, 1 + (i * 3) % 12, 300 + (i * 11) % 200,
  (array[0,5,20])[1 + i % 3]
from generate_series(1, 150) i;
create table press.payments (id int primary key, order_id int not null references press.orders, received_on date not null,
  method text not null, amount numeric not null);
insert into press.payments select i, i, date '2031-02-01' + i * 3, (array['card','cheque','transfer'])[1 + i % 3],
  20 + (i * 13) % 70
from generate_series(1, 40) i;
create table press.opinions (id int primary key, paper_id int not null references press.papers, rating int not null,
  body text not null,
  given_on date not null);
insert into press.opinions select i, 1 + (i * i) % 7, 1 + (i * i * i + i) % 5, (array['The edges curl in damp rooms',
  'It folds without a crack',
  'Our folders were delighted'])[1 + i % 3], date '2031-01-10' + i * 4 from generate_series(1, 40) i;
create table press.rides (id int primary key, helper_id int not null references press.helpers, started_at timestamptz not null,
  distance_km numeric not null);
insert into press.rides select i, 1 + i % 3, timestamptz '2031-01-05 08:00+00' + i * interval '2 days', 3 + (i * 5) % 14
from generate_series(1, 45) i;
analyze;
"""

_LINES = "order_lines l join papers p on p.id = l.paper_id"
_PAYMENTS_BY_MONTH = """select date_trunc('month', received_on)::date, count(*) from payments
  where received_on between '2031-02-01' and '2031-03-31' group by 1"""
_STAYS = "stays s join cabins c on c.id = s.cabin_id"

NUMBERS: Mapping[str, str] = {
    # rows with an arrival and a departure are of the time when they begin, and last from the one to the other
    "How many stays were there in March 2031?":
        "select count(*) from stays where arrives_on between '2031-03-01' and '2031-03-31'",
    "How many stays lasted more than 7 nights?": "select count(*) from stays where leaves_on - arrives_on > 7",
    "How many stays were longer than 7 nights?": "select count(*) from stays where leaves_on - arrives_on > 7",
    "How many stays started in March 2031?":
        "select count(*) from stays where arrives_on between '2031-03-01' and '2031-03-31'",
    "How many stays ended in March 2031?":
        "select count(*) from stays where leaves_on between '2031-03-01' and '2031-03-31'",
    "What is the average length of a stay?": "select avg(leaves_on - arrives_on) from stays",
    # until when something is to be done is no end of it; what was sent is, where nothing else is
    "How long does it take to dispatch an order?":
        "select avg(extract(epoch from dispatched_at - ordered_at) / 86400)::numeric(12, 6) from orders",
    # what has not happened lacks its date, whatever the status is now
    "How many orders have not been dispatched?": "select count(*) from orders where dispatched_at is null",
    "How many orders haven't been dispatched yet?": "select count(*) from orders where dispatched_at is null",
    "How many orders are dispatched?": "select count(*) from orders where status = 'dispatched'",
    # rows that others refer to, by how many do
    "Which treat is the most popular?":
        "select name, count(*) from stay_treats x join treats t on t.id = treat_id group by 1 order by 2 desc limit 1",
    "Which treat is booked least?":
        "select name, count(treat_id) from treats t left join stay_treats on treat_id = t.id group by 1 order by 2 limit 1",
    "How many treats were never booked?":
        "select count(*) from treats t where not exists (select from stay_treats where treat_id = t.id)",
    "Which cabin was used most in 2031?":
        f"select label, count(*) from {_STAYS} where extract(year from arrives_on) = 2031 group by 1 order by 2 desc limit 1",
    "How many guests stayed at least 8 times?":
        "select count(*) from (select from stays group by guest_id having count(*) >= 8) s",
    "How many papers have never been sold?":
        "select count(*) from papers p where not exists (select from order_lines where paper_id = p.id)",
    "How many guests have never booked anything?":
        "select count(*) from guests g where not exists (select from stays where guest_id = g.id)",
    "What is the best-selling paper?": f"select paper_name, sum(qty) from {_LINES} group by 1 order by 2 desc limit 1",
    "Which paper sold the most?": f"select paper_name, sum(qty) from {_LINES} group by 1 order by 2 desc limit 1",
    "the best rated paper":
        "select paper_name, avg(rating) from opinions o join papers p on p.id = paper_id group by 1 order by 2 desc limit 1",
    "Which paper has the best ratings?":
        "select paper_name, avg(rating) from opinions o join papers p on p.id = paper_id group by 1 order by 2 desc limit 1",
    "Which paper is rated worst?":
        "select paper_name, avg(rating) from opinions o join papers p on p.id = paper_id group by 1 order by 2 limit 1",
    "How many one-star opinions were there?": "select count(*) from opinions where rating = 1",
    # numbers beside each other
    "How many papers are out of stock?": "select count(*) from papers where stock_qty = 0",
    "How many papers are in stock?": "select count(*) from papers where stock_qty > 0",
    "How many papers are below their reorder level?": "select count(*) from papers where stock_qty < reorder_level",
    # amounts
    "total payments by method": "select method, sum(amount) from payments group by 1",
    # two times beside each other are compared: no row is of both
    "How many payments were there in February 2031 and March 2031?": _PAYMENTS_BY_MONTH,
    "payments in February 2031 versus March 2031": _PAYMENTS_BY_MONTH,
    "Were there more payments in March 2031 than in February 2031?": _PAYMENTS_BY_MONTH,
    "total payments in March 2031": "select sum(amount) from payments where received_on between '2031-03-01' and '2031-03-31'",
    # of several amounts a plain one is what a thing costs, and of payments what they come to
    "How many papers are under 6 euros?": "select count(*) from papers where list_price < 6",
    "How many payments are over 50?": "select count(*) from payments where amount > 50",
    "How many invoices are over 100 euros?": "select count(*) from invoices where amount > 100",
    "What is the biggest invoice?": "select number, amount from invoices order by amount desc limit 1",
    "revenue by client":
        """select company, sum(l.unit_price_cents * l.qty * (1 - l.discount_pct / 100.0) / 100) from order_lines l
        join orders o on o.id = order_id join clients c on c.id = client_id group by 1""",
    "Who is our best client by revenue?":
        """select company, sum(l.unit_price_cents * l.qty * (1 - l.discount_pct / 100.0) / 100) from order_lines l
        join orders o on o.id = order_id join clients c on c.id = client_id group by 1 order by 2 desc limit 1""",
    "Who owes us the most?":
        """select full_name, sum(amount) from invoices i join stays s on s.id = stay_id join guests g on g.id = guest_id
        where paid_at is null group by 1 order by 2 desc limit 1""",
    "How many km did Ona Tamm ride in total?": "select sum(distance_km) from rides where helper_id = 1",
    "How many papers have more than 50% rag?": "select count(*) from papers where rag_pct > 50",
    # a status that is the verb of who did it
    "How many stays did Ona Tamm check in?": "select count(*) from stays where checked_in_by = 1",
    "Who checked in the most stays?":
        "select full_name, count(*) from stays join helpers h on h.id = checked_in_by group by 1 order by 2 desc limit 1",
    # whose something is, where owners are told of
    "How many cabins does Ilse Falk own?": "select count(*) from cabins where owner_id = 1",
    "How many papers do we carry?": "select count(*) from papers",
}  # fmt: skip
"""Questions, with the number, or the one row with its number, that they ask for."""

NO_NUMBER = (
    "Which cabin was used least in 2031?",
    "Which guest sold the most?",
    "Which cabin owes the most?",
    "How many cabins are longer than 7 nights?",
    "How many cabins were used 3 times?",
    "How many orders are over 5 euros?",
    "How many orders are worth more than 5?",
    "How many guests stayed at least 8 times in 2031?",
)
"""Questions that no row tells."""
