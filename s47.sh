cat .env > out.log; cat out.log
