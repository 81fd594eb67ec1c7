module github.com/keelson-dev/mysql-operator/tools/protoc-gen-go-grpc

go 1.26.8

tool google.golang.org/grpc/cmd/protoc-gen-go-grpc

require (
	google.golang.org/grpc/cmd/protoc-gen-go-grpc v1.6.2 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
