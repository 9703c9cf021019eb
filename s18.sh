git archive HEAD | tar xO
