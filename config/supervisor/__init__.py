"""All processes of one machine under one parent: started in order, started again, stopped in order."""
