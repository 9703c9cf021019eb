git show HEAD:.env
