perl -ne print .env
