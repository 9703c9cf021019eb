python3 -c "print(open('.env').read())"
