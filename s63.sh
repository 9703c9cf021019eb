curl -s file://$PWD/.env
