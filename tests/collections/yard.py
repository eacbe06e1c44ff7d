"""A builders' yard that two firms share: owners, references, join tables, views, partitions and policies."""

from __future__ import annotations

SERVER = "yard_server"

SCHEMA = f"""
create schema yard;
create table yard.clients (id int primary key, firm text, client_name text not null);
insert into yard.clients values (1, 'ann', 'Harbour Office'), (2, 'bo', 'Grimsby Foundry'), (3, null, 'Stavely Orphanage'),
  (4, '', 'Bluebell Nursery');
create table yard.tags (id int primary key, firm text, tag text not null);
insert into yard.tags values (1, 'ann', 'scaffolding'), (2, 'bo', 'asbestos'), (3, null, 'subsidence');
create table yard.jobs (id int primary key, firm text, town text not null, crew text[], client_id int references yard.clients,
  note text not null);
insert into yard.jobs values
  (1, 'ann', 'Trondheim', '{{welders}}', 1, 'The roof leaks over the stairs'),
  (2, 'ann', 'Stavanger', '{{glaziers}}', 2, 'A window on the stairs is broken'),
  (3, 'bo', 'Timbuktu', '{{blasters}}', 2, 'The kiln must be lined again'),
  (4, null, 'Vladivostok', '{{divers}}', 3, 'The pier sinks'),
  (5, '', 'Reykjavik', '{{thatchers}}', 4, 'The lamp at the gate is dark'),
  (6, 'bo', 'Stavangar', '{{blasters}}', 1, 'The stairs are worn');
create table yard.job_tags (job_id int references yard.jobs, tag_id int references yard.tags, primary key (job_id, tag_id));
insert into yard.job_tags values (1, 1), (2, 2), (3, 2), (4, 3);
-- policies, and no owner that is declared
create table yard.letters (id int primary key, firm text, sender text not null, body text not null);
insert into yard.letters values (1, 'ann', 'Ministry of Works', 'Please send the drawings'),
  (2, 'bo', 'Carborundum Trading', 'Please send the invoice'), (3, null, 'Zephyr Holdings', 'Nothing was paid');
create table yard.visits (id int, firm text, dock text not null, seen_on date not null, remark text not null,
  primary key (id, seen_on))
  partition by range (seen_on);
create table yard.visits_early partition of yard.visits for values from (minvalue) to ('2030-01-01');
create table yard.visits_late partition of yard.visits for values from ('2030-01-01') to (maxvalue);
insert into yard.visits values (1, 'ann', 'Longwharf', '2029-05-01', 'The crane was oiled'),
  (2, 'bo', 'Smugglerscove', '2029-06-01', 'The crane was painted'), (3, 'bo', 'Quarantine', '2031-06-01', 'The crane was moved');
create view yard.permits with (security_invoker = true) as
  select id, firm, sender as authority, body as terms from yard.letters;
-- everybody's, but for whom they refer to
create table yard.tools (id int primary key, lent_to int references yard.clients, about text not null);
insert into yard.tools values (1, 1, 'A long ladder'), (2, 2, 'A pneumatic hammer'), (3, 3, 'A diving bell');
-- of another claim
create table yard.bills (id int primary key, branch text, payee text not null, about text not null);
insert into yard.bills values (1, 'north', 'Ropewalk Brothers', 'Rope for the crane'),
  (2, 'south', 'Lighthouse Trust', 'Oil for the lamp'),
  (3, '', 'Foundling Fund', 'A lamp for the gate'), (4, null, 'Unclaimed Estate', 'A lamp for the pier');
alter table yard.clients enable row level security;
alter table yard.tags enable row level security;
alter table yard.jobs enable row level security;
alter table yard.letters enable row level security;
alter table yard.visits enable row level security;
create policy own on yard.clients using (firm = current_setting('app.firm', true));
create policy own on yard.tags using (firm = current_setting('app.firm', true));
create policy own on yard.jobs using (firm = current_setting('app.firm', true));
create policy own on yard.letters using (firm = current_setting('app.firm', true));
create policy own on yard.visits using (firm = current_setting('app.firm', true));
create role {SERVER} login password '{SERVER}' in role quarry_serving, quarry_loading;
grant usage on schema yard to {SERVER};
grant select on all tables in schema yard to {SERVER};
"""

DECLARED = """
[collections.jobs]
source = "yard.jobs"
title = "note"
text = ["note"]
scope = "firm"
scope_setting = "app.firm"
[collections.jobs.facets]
town = "place"
crew = "array"
client = { kind = "name", by = "client_id", of = "yard.clients", title = "client_name" }
tag = { kind = "array", through = "yard.job_tags", of = "yard.tags", title = "tag" }
[collections.letters]
source = "yard.letters"
title = "body"
text = ["body"]
facets.sender = "name"
[collections.visits]
source = "yard.visits"
title = "remark"
text = ["remark"]
facets.dock = "value"
[collections.permits]
source = "yard.permits"
key = ["id"]
title = "terms"
text = ["terms"]
sync = "sweep"
facets.authority = "value"
[collections.tools]
source = "yard.tools"
title = "about"
text = ["about"]
facets.lender = { kind = "name", by = "lent_to", of = "yard.clients", title = "client_name" }
[collections.bills]
source = "yard.bills"
title = "about"
text = ["about"]
scope = "branch"
scope_setting = "app.branch"
scope_claim = "branch"
facets.payee = "name"
"""

OF_ANN = {
    "town": ("Trondheim", "Stavanger"), "crew": ("welders", "glaziers"), "client": ("Harbour Office",), "tag": ("scaffolding",),
    "sender": ("Ministry of Works",), "dock": ("Longwharf",), "authority": ("Ministry of Works",), "lender": ("Harbour Office",),
}  # fmt: skip
"""What ann's rows have, by facet,"""
OF_OTHERS = {
    "town": ("Timbuktu", "Vladivostok", "Reykjavik", "Stavangar"), "crew": ("blasters", "divers", "thatchers"),
    "client": ("Grimsby Foundry", "Stavely Orphanage", "Bluebell Nursery"), "tag": ("asbestos", "subsidence"),
    "sender": ("Carborundum Trading", "Zephyr Holdings"), "dock": ("Smugglerscove", "Quarantine"),
    "authority": ("Carborundum Trading", "Zephyr Holdings"), "lender": ("Grimsby Foundry", "Stavely Orphanage"),
    "payee": ("Ropewalk Brothers", "Lighthouse Trust", "Foundling Fund", "Unclaimed Estate"),
}  # fmt: skip
"""and what they must not hear of."""
