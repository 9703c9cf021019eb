tac .env
