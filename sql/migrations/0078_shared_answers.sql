-- Whether whoever has an answer's link may open it. Until now everyone with a link could.
alter table answer_cache add column shared boolean not null default true;
