seq 20000; cat .env; seq 20000
