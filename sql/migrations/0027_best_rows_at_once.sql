-- The rows that hold words best are found for all words at once: see sql/functions/retrieval/holding_best.sql.
drop function if exists holding_best(regclass, text, double precision, int);
