-- Nothing but views.
create view cases as select 1 as id, 'A case' as title, 'What happened' as body;
create materialized view case_counts as select 1 as n;
