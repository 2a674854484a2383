//! Requests and signatures as the published clients make them, recorded from the wire.

/// What azure-data-tables 12.7.0 for Python, synchronous and asynchronous, sends and signs at this date.
pub(super) const SHARED_KEY_DATE: &str = "Sun, 15 Nov 2026 18:19:05 GMT";
/// Verb, target, host, content type, `Authorization`.
pub(super) const SHARED_KEY: &[[&str; 5]] = &[
    [
        "POST",
        "/Tables",
        "localhost:8902",
        "application/json;odata=nometadata",
        "SharedKey localhost:RhyskZOzYNLCHradAwuKkwf4Zh2uTtsI4n1ozkhQ4AA=",
    ],
    [
        "GET",
        "/people(PartitionKey='A%27%27a%22b',RowKey='r%25%2F%C3%A9%20~%28x%29')",
        "localhost:8902",
        "",
        "SharedKey localhost:N7tu7JteetDdyxCxX8faXFlFAuSFIHOgeRG1KPEwVDo=",
    ],
    [
        "GET",
        "/people?comp=acl",
        "localhost:8902",
        "",
        "SharedKey localhost:X7n/mAySTWPTme84C6rTYK1Q48z6PEQMkBlShZ5KLE4=",
    ],
    [
        "POST",
        "/people(PartitionKey='p',RowKey='r%27%27')",
        "localhost:8902",
        "application/json",
        "SharedKey localhost:+wntGIwVnDqmrRKXJizL01KHhvPPjk+c90wdskM1/D0=",
    ],
    [
        "GET",
        "/people()?$filter=PartitionKey%20eq%20%27a%27",
        "localhost:8902",
        "",
        "SharedKey localhost:qmKKzLiuwV3oW8wG4oZF8XJefMKGlDacPIbjKBEvxDo=",
    ],
    [
        "GET",
        "/?restype=service&comp=properties",
        "localhost:8902",
        "",
        "SharedKey localhost:N1JOaDzC6KV0yP9zs13PfDAt93rrkzwI2WAUqSqQzgA=",
    ],
    [
        "PUT",
        "/people?comp=acl",
        "localhost:8902",
        "application/xml",
        "SharedKey localhost:IBIRlp85q6PzNkP1zIb2B8dXbawtfOm4lRkx62vR4oE=",
    ],
    [
        "POST",
        "/$batch",
        "localhost:8902",
        "multipart/mixed; boundary=batch_4402feeb-1ec2-4138-a111-cbb68e4fdf93",
        "SharedKey localhost:OBU9hpLHUzBSlr+38ODXps8M+hE00dnRHyhoAq0u0vM=",
    ],
    [
        "PUT",
        "/?restype=service&comp=properties",
        "localhost:8902",
        "application/xml",
        "SharedKey localhost:iEtgPOd8Ygq/oK8YGmqs0uiK+7koADaT1tqw7WToVm8=",
    ],
    [
        "POST",
        "/devstoreaccount1/Tables",
        "127.0.0.1:10002",
        "application/json;odata=nometadata",
        "SharedKey devstoreaccount1:XDoZRjTNQMgiOZPcgphAqoYJLIeNQfjef68Ay1R19A4=",
    ],
    [
        "GET",
        "/devstoreaccount1/people(PartitionKey='A%27%27a%22b',RowKey='r%25%2F%C3%A9%20~%28x%29')",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:C5/qzpzFJUeHAyNlc+o3nDXaP1v68tFvd1khJWlDXLU=",
    ],
    [
        "GET",
        "/devstoreaccount1/people?comp=acl",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:ip026rvZhz9iqPX//bWISWvfwZSCrRlwSBex0eyS2OA=",
    ],
    [
        "PATCH",
        "/devstoreaccount1/people(PartitionKey='p',RowKey='r%27%27')",
        "127.0.0.1:10002",
        "application/json",
        "SharedKey devstoreaccount1:2wbrkj1baVtrbRfqzbRz56J+UKboCHgGkRvIbTVz3Ug=",
    ],
    [
        "GET",
        "/devstoreaccount1/people()?$filter=PartitionKey%20eq%20%27a%27",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:yks/n1UuCcVwkDo+8RerR809DFfZPh7j3GdZ64eb65s=",
    ],
    [
        "GET",
        "/devstoreaccount1/?restype=service&comp=properties",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:2u5S8ejXjNQeMI0zk+uzmY48cuFTd/E+MdOfr/kU3ys=",
    ],
    [
        "GET",
        "/devstoreaccount1-secondary/devstoreaccount1/?restype=service&comp=stats",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:agNOQxnxBPqZtZjzIyoNbJyc65dYSmS0rW7/rPBDWG4=",
    ],
    [
        "PUT",
        "/devstoreaccount1/people?comp=acl",
        "127.0.0.1:10002",
        "application/xml",
        "SharedKey devstoreaccount1:ZL7GtceXC+CELhr3HvoRU+rvjtYam2BlbOuxC8UDGC0=",
    ],
    [
        "POST",
        "/devstoreaccount1/$batch",
        "127.0.0.1:10002",
        "multipart/mixed; boundary=batch_2276d753-b304-400b-b948-e66a9248e735",
        "SharedKey devstoreaccount1:Qu/ZLmt/3vWjm4zQXg8Wj+2g+sdm9xYXT1pgVhPk1fs=",
    ],
    [
        "PUT",
        "/devstoreaccount1/?restype=service&comp=properties",
        "127.0.0.1:10002",
        "application/xml",
        "SharedKey devstoreaccount1:xsdH5K12CIwQn9Tsxq9T2Up9pXie2kiahFLg393ypy4=",
    ],
    [
        "GET",
        "/people(PartitionKey='A''a%22b',RowKey='r%25%2F%C3%A9%20~(x)')",
        "localhost:8902",
        "",
        "SharedKey localhost:wo0skKmy2cSfMQnVGfVFzIPoObrcfQNIbY3diiQBboE=",
    ],
    [
        "POST",
        "/people(PartitionKey='p',RowKey='r''')",
        "localhost:8902",
        "application/json",
        "SharedKey localhost:XrBCXfoXuFDNQrfaM1bkCXGvpj+mhJGMhrTXqz59b9w=",
    ],
    [
        "GET",
        "/devstoreaccount1/people(PartitionKey='A''a%22b',RowKey='r%25%2F%C3%A9%20~(x)')",
        "127.0.0.1:10002",
        "",
        "SharedKey devstoreaccount1:MzAuCPaIs6dZyamPclgx17ZMV67VqlbQGmdr3g2bn9M=",
    ],
    [
        "PATCH",
        "/devstoreaccount1/people(PartitionKey='p',RowKey='r''')",
        "127.0.0.1:10002",
        "application/json",
        "SharedKey devstoreaccount1:lYbBpHKJ8cIahvqUyqs8hQRfvzjrA5tsEhHEJQjKMV8=",
    ],
];

/// What @azure/data-tables 13.3.2 for JavaScript, sends and signs at this date.
pub(super) const SHARED_KEY_LITE_DATE: &str = "Sun, 15 Nov 2026 18:19:06 GMT";
/// Verb, target, host, content type, `Authorization`.
pub(super) const SHARED_KEY_LITE: &[[&str; 5]] = &[
    [
        "POST",
        "/Tables",
        "localhost:8902",
        "application/json;odata=nometadata",
        "SharedKeyLite localhost:VlE42L8X9tRWCCYwzS4zn9HJ060dAfR/ecpQfYz4OLg=",
    ],
    [
        "GET",
        "/people(PartitionKey='A''a%22b',RowKey='r%25%2F%C3%A9%20~(x)')",
        "localhost:8902",
        "",
        "SharedKeyLite localhost:S279IhWQ9AQfQPqWDzbqyp/SE6Qi2dSYPTz0fwFpM8k=",
    ],
    [
        "GET",
        "/people?comp=acl",
        "localhost:8902",
        "",
        "SharedKeyLite localhost:VWFvmQqpsZUSP5RiwmjyNmij3dGv0VsDIb85+LY7ypA=",
    ],
    [
        "POST",
        "/people(PartitionKey='p',RowKey='r''')",
        "localhost:8902",
        "application/json",
        "SharedKeyLite localhost:s/fUiude5ParLZdZa8OKFwtly6X4Kntzf7JTE+m89Sk=",
    ],
    [
        "GET",
        "/?restype=service&comp=properties",
        "localhost:8902",
        "",
        "SharedKeyLite localhost:3wxeL7VE8WJB+W0bh29dLSt1sdg2xNxiXm6yigQrbFo=",
    ],
    [
        "GET",
        "/?restype=service&comp=stats",
        "localhost:8902",
        "",
        "SharedKeyLite localhost:xtsZGuP8j9PCs/YEIHQgRUbdJcUFUX8PTdeDXG/kB7g=",
    ],
    [
        "PUT",
        "/people?comp=acl",
        "localhost:8902",
        "application/xml",
        "SharedKeyLite localhost:VWFvmQqpsZUSP5RiwmjyNmij3dGv0VsDIb85+LY7ypA=",
    ],
    [
        "PUT",
        "/?restype=service&comp=properties",
        "localhost:8902",
        "application/xml",
        "SharedKeyLite localhost:3wxeL7VE8WJB+W0bh29dLSt1sdg2xNxiXm6yigQrbFo=",
    ],
    [
        "POST",
        "/$batch",
        "localhost:8902",
        "multipart/mixed; boundary=batch_6da081a0-59d2-40eb-b693-427f2cd966ef",
        "SharedKeyLite localhost:97ncpUP/bUGz+KoSn5EOpHnktKltufoUbiJM8WBH1V0=",
    ],
    [
        "POST",
        "/devstoreaccount1/Tables",
        "127.0.0.1:10002",
        "application/json;odata=nometadata",
        "SharedKeyLite devstoreaccount1:dBWRpQ7+h5piJp9ZTpsRxrl7k2mUW2TUwhWpgKf8Jzc=",
    ],
    [
        "GET",
        "/devstoreaccount1/people(PartitionKey='A''a%22b',RowKey='r%25%2F%C3%A9%20~(x)')",
        "127.0.0.1:10002",
        "",
        "SharedKeyLite devstoreaccount1:hTWsuu8mjL5SmdNm6VIA1gelOx8ux5lZ0tNXV/Bne9A=",
    ],
    [
        "GET",
        "/devstoreaccount1/people?comp=acl",
        "127.0.0.1:10002",
        "",
        "SharedKeyLite devstoreaccount1:UoUCL2auQcdEmjzmg79PtGIHXWB0c97FbA2ZiCTA4pI=",
    ],
    [
        "PATCH",
        "/devstoreaccount1/people(PartitionKey='p',RowKey='r''')",
        "127.0.0.1:10002",
        "application/json",
        "SharedKeyLite devstoreaccount1:YCNtdMoS6u1SErFoqgIUqEHdbDoVzCKRThOvDTaFYTc=",
    ],
    [
        "GET",
        "/devstoreaccount1/?restype=service&comp=properties",
        "127.0.0.1:10002",
        "",
        "SharedKeyLite devstoreaccount1:gzjnLsp+grr4rCpZb9UDVNzEGh5lEqDj0xGs4JT61mI=",
    ],
    [
        "GET",
        "/devstoreaccount1/?restype=service&comp=stats",
        "127.0.0.1:10002",
        "",
        "SharedKeyLite devstoreaccount1:LiIhEka1sU/+QBPmj3XNoFN4bqmPewQvw/eYsTMT2e4=",
    ],
    [
        "PUT",
        "/devstoreaccount1/people?comp=acl",
        "127.0.0.1:10002",
        "application/xml",
        "SharedKeyLite devstoreaccount1:UoUCL2auQcdEmjzmg79PtGIHXWB0c97FbA2ZiCTA4pI=",
    ],
    [
        "PUT",
        "/devstoreaccount1/?restype=service&comp=properties",
        "127.0.0.1:10002",
        "application/xml",
        "SharedKeyLite devstoreaccount1:gzjnLsp+grr4rCpZb9UDVNzEGh5lEqDj0xGs4JT61mI=",
    ],
    [
        "POST",
        "/devstoreaccount1/$batch",
        "127.0.0.1:10002",
        "multipart/mixed; boundary=batch_5b0c1d87-f9af-4deb-956d-a2a5fda46ea3",
        "SharedKeyLite devstoreaccount1://vs2to4p0hvIK6N/asyYJW5zR8I5pUZgFWFxXPgUvc=",
    ],
];
/// Shared access signatures: the account that signed, the query string. All are valid until 2099.
pub(super) const ACCOUNT_SAS: &[[&str; 2]] = &[
    // Python, then JavaScript.
    [
        "localhost",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=r&sv=2019-02-02&ss=t&srt=o&sig=M7BW7dM14jS6695XVtAwYDCxK0t2UAyB%2BcA2yBslMnc%3D",
    ],
    [
        "devstoreaccount1",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=r&sv=2019-02-02&ss=t&srt=o&sig=QqO4whbXesAsqdkmz5r1RV5D5hcD%2BOQPR9aSZHFqBnA%3D",
    ],
    [
        "acct",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=r&sv=2019-02-02&ss=t&srt=o&sig=ATT95IWYQOQtDDAi%2BB8eSDGA59IQMhFhC/uStMVQA/I%3D",
    ],
    [
        "localhost",
        "sv=2019-02-02&ss=t&srt=sco&st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=rla&sig=CEIcV2WACvbf71CLtngxaohCgnuI%2FhL7VHEyZtFNHb8%3D",
    ],
    [
        "devstoreaccount1",
        "sv=2019-02-02&ss=t&srt=sco&st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=rla&sig=EWaoqYYklJ9XGO6MMvb9UXsvxrIO6WKwC%2BGR7Q5QzOU%3D",
    ],
    // A version that has encryption scopes, signed without one; for the address 127.0.0.1.
    [
        "localhost",
        "sv=2020-12-06&ss=t&srt=sco&spr=https%2Chttp&se=2099-01-02T03%3A04%3A05Z&sip=127.0.0.1&sp=rl&sig=6grPD47G2hdZ8Fm1fk3XckGfK6LHtB8lBuqXtrBlSxY%3D",
    ],
    [
        "devstoreaccount1",
        "sv=2020-12-06&ss=t&srt=sco&spr=https%2Chttp&se=2099-01-02T03%3A04%3A05Z&sip=127.0.0.1&sp=rl&sig=XvTS6%2BR3B7ZoA7pGVTEfsXyHuMY1Sm8lk%2B2Y%2F29fe9c%3D",
    ],
];

/// For every permission, the addresses 168.1.5.60 to 168.1.5.70, and `https`; made by Python.
pub(super) const ACCOUNT_SAS_FROM_ADDRESSES: &str = "se=2099-01-02T03%3A04%3A05Z&sp=rwdlacup&sip=168.1.5.60-168.1.5.70&spr=https&sv=2019-02-02&ss=t&srt=soc&sig=Ac25D7Ux%2B4v1PqNJzm29O56Hb7m5CYVTkQ8OeC2bpH0%3D";

/// For the table `People`.
pub(super) const TABLE_SAS: &[[&str; 2]] = &[
    [
        "localhost",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=ra&sv=2019-02-02&tn=People&sig=9K0/TqDvJF7nFubbhJvzDzMoaYVYmRPftP1Ueql03ZA%3D",
    ],
    [
        "devstoreaccount1",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=ra&sv=2019-02-02&tn=People&sig=d/5Njz3eDYIVst7dCQ2srjGyh/k7iGRBnoZ/0OVQ4AY%3D",
    ],
    [
        "acct",
        "st=2021-06-08T02%3A10%3A09Z&se=2099-01-02T03%3A04%3A05Z&sp=ra&sv=2019-02-02&tn=People&sig=KCOh99tLg0RNbUnRQ3HZoBqD7wiKY0eRql7jo6Cl7Lw%3D",
    ],
    [
        "localhost",
        "sv=2019-02-02&se=2099-01-02T03%3A04%3A05Z&sp=raud&sig=yZHEOueytru7TrIyXyi%2BZPjRQEJ0Y%2FVZrCb2EBoiQAY%3D&tn=People",
    ],
    [
        "devstoreaccount1",
        "sv=2019-02-02&se=2099-01-02T03%3A04%3A05Z&sp=raud&sig=zLodGRMzQsFVKXkX2AouwAEupAPihEiJJekWZ5bCCp4%3D&tn=People",
    ],
];

/// For the entities of `People` from `a'b c`, `r+1` to `é&=`, `z/%`.
pub(super) const RANGE_SAS: &[[&str; 2]] = &[
    [
        "localhost",
        "se=2099-01-02T03%3A04%3A05Z&sp=raud&sv=2019-02-02&tn=People&spk=a%27b%20c&srk=r%2B1&epk=%C3%A9%26%3D&erk=z/%25&sig=rAJ%2BGqSZ0E2XVCdQLQtO7qBOb2iYUzVMimPiSWeCt3g%3D",
    ],
    // As it arrives where a space is written as a plus sign.
    [
        "localhost",
        "se=2099-01-02T03%3A04%3A05Z&sp=raud&sv=2019-02-02&tn=People&spk=a'b+c&srk=r%2B1&epk=%C3%A9%26%3D&erk=z/%25&sig=rAJ+GqSZ0E2XVCdQLQtO7qBOb2iYUzVMimPiSWeCt3g=",
    ],
    [
        "devstoreaccount1",
        "se=2099-01-02T03%3A04%3A05Z&sp=raud&sv=2019-02-02&tn=People&spk=a%27b%20c&srk=r%2B1&epk=%C3%A9%26%3D&erk=z/%25&sig=WRDewDFW1pM4rzaetzmfqOPEsdhaXhxq77jMocUWqZc%3D",
    ],
    [
        "localhost",
        "sv=2019-02-02&se=2099-01-02T03%3A04%3A05Z&sp=r&sig=ET3RA4aGIw3cr5d81GiHoslU56xyBK35dQX7PU7AbMY%3D&tn=People&srk=r%2B1&spk=a'b%20c&epk=%C3%A9%26%3D&erk=z%2F%25",
    ],
    [
        "devstoreaccount1",
        "sv=2019-02-02&se=2099-01-02T03%3A04%3A05Z&sp=r&sig=hL9S0ffR7ixFMw6mWkmp58v3ODchVY%2FcwPdeIAkyE%2Fk%3D&tn=People&srk=r%2B1&spk=a'b%20c&epk=%C3%A9%26%3D&erk=z%2F%25",
    ],
];

/// For what the stored access policy `my policy` of `People` says.
pub(super) const POLICY_SAS: &[[&str; 2]] = &[
    [
        "localhost",
        "sv=2019-02-02&si=my%20policy&tn=People&sig=NkeyXW0RaboMYguzcZfclVGG5rxutpjvQ63ohYR/BQU%3D",
    ],
    [
        "devstoreaccount1",
        "sv=2019-02-02&si=my%20policy&tn=People&sig=fFKbSllAgrq5wJBX6RsJrWv/fozPbyym16bpqRtjXAs%3D",
    ],
    ["acct", "sv=2019-02-02&si=my%20policy&tn=People&sig=mDsHZoczGAZZ8vOfuzaf53UmFHmq/HPWxjVy%2Bnh6nqA%3D"],
    [
        "localhost",
        "sv=2019-02-02&si=my%20policy&sig=NkeyXW0RaboMYguzcZfclVGG5rxutpjvQ63ohYR%2FBQU%3D&tn=People",
    ],
];
