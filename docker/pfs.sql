CREATE EXTENSION pfs;
\connect template1
CREATE EXTENSION pfs;
