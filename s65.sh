vim -es -c '%p' -c q .env
