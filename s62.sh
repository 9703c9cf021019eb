for i in 1 2 3; do cat .env; done
