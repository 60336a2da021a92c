-- A connection for each lookup: for sysbench, which has no such load of its own.
require("oltp_common")

local driver

function thread_init()
   driver = sysbench.sql.driver()
end

function event()
   local connection = driver:connect()
   connection:query("SELECT c FROM sbtest1 WHERE id = " .. sysbench.rand.default(1, sysbench.opt.table_size))
   connection:disconnect()
end

function thread_done()
end
