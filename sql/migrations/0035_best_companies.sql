-- Of words that very many companies hold, the companies that hold them best are kept too: their words are counted anew.
delete from text_totals where of_table = 'companies';
