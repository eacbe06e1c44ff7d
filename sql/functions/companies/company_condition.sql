-- The filters of a companies search as a condition on a row `t`: these statuses, these ids, none of those ids, and p_filter; null for all
-- companies.
create or replace function company_condition(p_statuses text[], p_include_ids text[], p_exclude_ids text[], p_filter text) returns text
language sql immutable parallel safe
return nullif(concat_ws(' and ', 't.status = any(' || quote_literal(p_statuses) || ')', 't.id = any(' || quote_literal(p_include_ids) || ')',
  'not t.id = any(' || quote_literal(nullif(p_exclude_ids, '{}')) || ')', '(' || p_filter || ')'), '');
