# events.gdb
#	  The finished events in the current block of a thread, from a core or a live process.
#	  See src/debugging.md.
#
#	(gdb) source tools/events.gdb
#	(gdb) pfs-events pfs_my_thread PFS_WAITS
#
# Calls no function, so it works on a core.  All families begin with the same words in a
# block, so PfsWait serves for all of them.

define pfs-events
	set $pfs_writer = &((PfsThread *) $arg0)->events[$arg1].finished
	set $pfs_end = (char *) $pfs_writer->next
	set $pfs_at = $pfs_end - ($pfs_writer->position & 0xffffff)
	if $pfs_end == 0
		echo the thread has no block of this family\n
	end
	while $pfs_at < $pfs_end
		set $pfs_event = (PfsWait *) $pfs_at
		if $pfs_event->instrument == 0xffff
			printf "of thread %lu:\n", ((PfsEventRun *) $pfs_at)->thread_id
		else
			printf "%8lu  %-40s  %lu ticks\n", $pfs_event->event_id, (char *) pfs_instrument_items[$pfs_event->instrument].name, $pfs_event->timer_end - $pfs_event->timer_start
		end
		set $pfs_at = $pfs_at + $pfs_event->size * 8
	end
end

document pfs-events
pfs-events THREAD FAMILY: the finished events in the current block of a thread, oldest first.
THREAD is a PfsThread *, as pfs_my_thread; FAMILY is PFS_WAITS, PFS_STAGES, PFS_STATEMENTS or PFS_TRANSACTIONS.
end
