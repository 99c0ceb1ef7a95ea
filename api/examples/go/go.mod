module mine

go 1.21
