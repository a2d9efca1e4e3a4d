{"update":{"_index":"fb_es","_id":"abc"}}
{"doc":{"log":"b"},"doc_as_upsert":true}
