git log -p
