tar cf - .env | tar xOf -
