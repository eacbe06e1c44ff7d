-- Conditions read the tags of very many companies: they stay in the row as what is searched does. It holds for rows written from now on.
alter table companies alter column niches set storage main;
alter table companies alter column sectors set storage main;
alter table companies alter column categories set storage main;
alter table companies alter column business_models set storage main;
