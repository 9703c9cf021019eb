cat hard
