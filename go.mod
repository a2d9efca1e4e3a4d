module varve

go 1.26.0
