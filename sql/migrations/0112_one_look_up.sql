-- look_up_values_v2 has taken its place; no code calls it any more.
drop function if exists look_up_values(text[], text[], int[], text[], text[], int[], int[], text[], int[], text);
