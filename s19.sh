cat $(ls -a | grep env)
