module github.com/keelson-dev/mysql-operator

go 1.26.8
