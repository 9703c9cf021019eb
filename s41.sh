bash -x -c '. ./.env'
