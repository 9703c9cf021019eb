python3 test_env.py
